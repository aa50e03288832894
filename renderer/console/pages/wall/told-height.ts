/** Step of reported heights, in device pixels. */
const step = 30
/** Minimum relative change to report: resizing windows and scroll bars must not cause requests. */
const enough = 0.15

/**
 * Returns the height of a picture to report to the node: in steps, and only after a large change.
 * @param told last reported height, in device pixels
 * @param height current height, in device pixels
 */
export function toldHeight(told: number, height: number): number {
  if (height <= 0) return 0
  if (told > 0 && Math.abs(height - told) < told * enough) return told
  return Math.ceil(height / step) * step
}
