/** Heights are told in steps of so many device pixels. */
const step = 30
/** A change of less than this share is not worth telling: windows are dragged, and scroll bars come and go. */
const enough = 0.15

/**
 * The height of a picture as it is told to the node: in steps, and only when it is otherwise by much.
 * @param told last, in device pixels
 * @param height as it is now, in device pixels
 */
export function toldHeight(told: number, height: number): number {
  if (height <= 0) return 0
  if (told > 0 && Math.abs(height - told) < told * enough) return told
  return Math.ceil(height / step) * step
}
