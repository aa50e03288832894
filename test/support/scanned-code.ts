import { createRequire } from 'node:module'
import type { Locator } from 'playwright-core'

/** Reader of QR codes; its types do not know that it is CommonJS. */
const readCode = createRequire(import.meta.url)('jsqr') as (
  pixels: Uint8ClampedArray,
  width: number,
  height: number,
) => { data: string } | null

/** Pixels of a module: readers need a few. */
const scale = 4

/** Reads a QR code from its drawing, as the camera of a phone does. @param picture the SVG of `QrCode.vue` */
export async function scanCode(picture: Locator): Promise<string> {
  const box = (await picture.getAttribute('viewBox')) ?? ''
  const size = Number(box.split(' ')[2])
  const path = (await picture.locator('path').getAttribute('d')) ?? ''
  const side = size * scale
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255)
  for (const [, x = '', y = '', width = ''] of path.matchAll(/M(\d+) (\d+)h(\d+)v1/g)) {
    for (let line = Number(y) * scale; line < (Number(y) + 1) * scale; line++) {
      const from = (line * side + Number(x) * scale) * 4
      for (let at = from; at < from + Number(width) * scale * 4; at += 4) pixels.fill(0, at, at + 3)
    }
  }
  const read = readCode(pixels, side, side)
  if (read === null) throw new Error('the picture is no QR code that can be read')
  return read.data
}
