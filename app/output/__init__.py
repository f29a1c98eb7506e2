"""What the commands write: detections, tracks, tables, pictures, pages and videos."""
