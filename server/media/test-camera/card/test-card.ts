import { packings } from '../../rtp/nal-units.ts'
import type { ClipPair, ClipPicture, PictureClip } from '../clip.ts'
import { blockPixels, changedPicture, keyPicture, parameterSets, type Samples } from './lossless-picture.ts'

/** Cells of a card; a character fills one cell. */
const across = 20
const down = 11
/** Rows of the texts. */
const rows = { name: 5, clock: 7, number: 9 } as const
/** Pictures per second, and from one key picture to the next. */
const rate = 10
const group = 40
/** Pixels of a cell: one macroblock in the small picture, four in the large one. */
const cellPixels = { large: 32, small: 16 } as const

/** Samples of white, black and the bars (75 %, ITU-R BT.601), in the order Y, Cb, Cr. */
type Color = readonly [y: number, cb: number, cr: number]
const white: Color = [235, 128, 128]
const black: Color = [16, 128, 128]
const bars: readonly Color[] = [
  [180, 128, 128],
  [162, 44, 142],
  [131, 156, 44],
  [112, 72, 58],
  [84, 184, 198],
  [65, 100, 212],
  [35, 212, 114],
  black,
]

/**
 * Returns a drawn test card in both sizes: color bars, the camera's name, the time of day (UTC) and the number of the
 * picture since the client began to play.
 */
export function testCard(name: string): ClipPair {
  return { large: cardClip(name, cellPixels.large), small: cardClip(name, cellPixels.small) }
}

function cardClip(name: string, cell: number): PictureClip {
  const size = { width: across * cell, height: down * cell }
  const sets = parameterSets(size)
  return {
    packing: packings.H264,
    rate,
    sets,
    isKey: (index) => index % group === 0,
    picture(index, beganAt): ClipPicture {
      const lines = linesOf(name, index, beganAt)
      const samples = background(size, cell)
      for (const [row, text] of lines) drawText(samples, cell, row, text)
      const sinceKey = index % group
      if (sinceKey === 0) return { sets, units: [keyPicture(samples, Math.floor(index / group) % 2)] }
      const before = linesOf(name, index - 1, beganAt)
      const changed = lines.flatMap(([row, text], at) => changedBlocks(cell, row, text, before[at]?.[1] ?? ''))
      return { sets: [], units: [changedPicture(samples, changed, sinceKey)] }
    },
  }
}

/** Returns the texts of a picture with their rows. */
function linesOf(name: string, index: number, beganAt: number): [row: number, text: string][] {
  const time = new Date(beganAt + (index * 1_000) / rate).toISOString()
  const texts = [name.toUpperCase(), `${time.slice(0, 10)} ${time.slice(11, 19)}`, String(index).padStart(8, '0')]
  const [nameText = '', clock = '', number = ''] = texts.map((text) => centered(text.slice(0, across)))
  return [
    [rows.name, nameText],
    [rows.clock, clock],
    [rows.number, number],
  ]
}

function centered(text: string): string {
  return text.padStart(Math.floor((across + text.length) / 2)).padEnd(across)
}

const backgrounds = new Map<number, Samples>()

/** Returns a copy of the picture without texts. */
function background({ width, height }: Pick<Samples, 'width' | 'height'>, cell: number): Samples {
  const known = backgrounds.get(cell)
  if (known !== undefined) return copyOf(known)
  const made: Samples = {
    width,
    height,
    planes: [
      new Uint8Array(width * height).fill(black[0]),
      new Uint8Array((width * height) / 4).fill(black[1]),
      new Uint8Array((width * height) / 4).fill(black[2]),
    ],
  }
  // A bar begins and ends with a macroblock, so that it continues the one above.
  for (let column = 0; column < width / blockPixels; column++) {
    const bar = bars[Math.floor((column * bars.length * blockPixels) / width)] ?? black
    fill(made, { x: column * blockPixels, y: 0, width: blockPixels, height: (rows.name - 1) * cell }, bar)
  }
  backgrounds.set(cell, made)
  return copyOf(made)
}

function copyOf({ planes: [y, cb, cr], ...size }: Samples): Samples {
  return { ...size, planes: [y.slice(), cb.slice(), cr.slice()] }
}

interface Area {
  x: number
  y: number
  width: number
  height: number
}

/** Fills an area, whose numbers are even. */
function fill({ width: stride, planes }: Samples, { x, y, width, height }: Area, color: Color): void {
  for (const [index, plane] of planes.entries()) {
    const scale = index === 0 ? 1 : 2
    for (let row = y / scale; row < (y + height) / scale; row++) {
      const at = (row * stride) / scale + x / scale
      plane.fill(color[index] ?? 0, at, at + width / scale)
    }
  }
}

function drawText(samples: Samples, cell: number, row: number, text: string): void {
  const dot = cell / cellDots
  for (const [column, character] of Array.from(text).entries())
    for (let y = 0; y < cellDots; y++)
      for (let x = 0; x < cellDots; x++)
        if (hasDot(character, x, y))
          fill(samples, { x: column * cell + x * dot, y: row * cell + y * dot, width: dot, height: dot }, white)
}

/** Returns the macroblocks of the characters that differ between two texts of a row, in ascending order. */
function changedBlocks(cell: number, row: number, text: string, before: string): number[] {
  const perCell = cell / blockPixels
  const columns = Array.from(text).flatMap((character, column) => (character === before[column] ? [] : [column]))
  return Array.from({ length: perCell }, (_, y) => y).flatMap((y) =>
    columns.flatMap((column) =>
      Array.from({ length: perCell }, (_, x) => (row * perCell + y) * across * perCell + column * perCell + x),
    ),
  )
}

/**
 * Glyphs of 5 × 7 dots for capital letters, digits and a few signs. Each number is a column from left to right; its
 * lowest bit is the dot at the top.
 */
const columns: Readonly<Record<string, readonly [number, number, number, number, number]>> = {
  ' ': [0x00, 0x00, 0x00, 0x00, 0x00],
  '-': [0x08, 0x08, 0x08, 0x08, 0x08],
  ':': [0x00, 0x36, 0x36, 0x00, 0x00],
  '0': [0x3e, 0x51, 0x49, 0x45, 0x3e],
  '1': [0x00, 0x42, 0x7f, 0x40, 0x00],
  '2': [0x42, 0x61, 0x51, 0x49, 0x46],
  '3': [0x21, 0x41, 0x45, 0x4b, 0x31],
  '4': [0x18, 0x14, 0x12, 0x7f, 0x10],
  '5': [0x27, 0x45, 0x45, 0x45, 0x39],
  '6': [0x3c, 0x4a, 0x49, 0x49, 0x30],
  '7': [0x01, 0x71, 0x09, 0x05, 0x03],
  '8': [0x36, 0x49, 0x49, 0x49, 0x36],
  '9': [0x06, 0x49, 0x49, 0x29, 0x1e],
  A: [0x7e, 0x11, 0x11, 0x11, 0x7e],
  B: [0x7f, 0x49, 0x49, 0x49, 0x36],
  C: [0x3e, 0x41, 0x41, 0x41, 0x22],
  D: [0x7f, 0x41, 0x41, 0x22, 0x1c],
  E: [0x7f, 0x49, 0x49, 0x49, 0x41],
  F: [0x7f, 0x09, 0x09, 0x09, 0x01],
  G: [0x3e, 0x41, 0x49, 0x49, 0x7a],
  H: [0x7f, 0x08, 0x08, 0x08, 0x7f],
  I: [0x00, 0x41, 0x7f, 0x41, 0x00],
  J: [0x20, 0x40, 0x41, 0x3f, 0x01],
  K: [0x7f, 0x08, 0x14, 0x22, 0x41],
  L: [0x7f, 0x40, 0x40, 0x40, 0x40],
  M: [0x7f, 0x02, 0x0c, 0x02, 0x7f],
  N: [0x7f, 0x04, 0x08, 0x10, 0x7f],
  O: [0x3e, 0x41, 0x41, 0x41, 0x3e],
  P: [0x7f, 0x09, 0x09, 0x09, 0x06],
  Q: [0x3e, 0x41, 0x51, 0x21, 0x5e],
  R: [0x7f, 0x09, 0x19, 0x29, 0x46],
  S: [0x46, 0x49, 0x49, 0x49, 0x31],
  T: [0x01, 0x01, 0x7f, 0x01, 0x01],
  U: [0x3f, 0x40, 0x40, 0x40, 0x3f],
  V: [0x1f, 0x20, 0x40, 0x20, 0x1f],
  W: [0x3f, 0x40, 0x38, 0x40, 0x3f],
  X: [0x63, 0x14, 0x08, 0x14, 0x63],
  Y: [0x07, 0x08, 0x70, 0x08, 0x07],
  Z: [0x61, 0x51, 0x49, 0x45, 0x43],
}

/** Width and height of a cell in dots: a glyph with its distance to the next one. */
const cellDots = 8

/** Whether a character has a dot at a place of its cell; characters without a glyph have none. */
function hasDot(character: string, x: number, y: number): boolean {
  // The glyph stands one dot from the left and half a dot from the top.
  const column = columns[character]?.[x - 1] ?? 0
  return y < 7 && ((column >> y) & 1) === 1
}
