import { z } from 'zod'
import { limits } from '../limits.ts'
import { roomId, userId } from './ids.ts'

/** Number of columns and rows of the grid for tiles of unequal size. */
export const wallCells = 12

/** Position and size of a tile, in cells. */
export interface WallPlace {
  x: number
  y: number
  w: number
  h: number
}

const wallPlace = z
  .strictObject({
    x: z
      .int()
      .min(0)
      .max(wallCells - 1),
    y: z
      .int()
      .min(0)
      .max(wallCells - 1),
    w: z.int().min(1).max(wallCells),
    h: z.int().min(1).max(wallCells),
  })
  .refine(isOnGrid, { error: `must lie within ${wallCells} columns and ${wallCells} rows` })
/**
 * Layouts of a wall. even: equal tiles, as large as possible; free: positions stored in the view; other layouts: number
 * of large and of small tiles.
 */
export const wallLayouts = ['even', '1+5', '1+7', '2+8', 'free'] as const
export type WallLayout = (typeof wallLayouts)[number]

/** Minimum duration of a page, in seconds. With shorter durations, connecting would take most of the time. */
const minRotation = 5

/** Arrangement of the tiles of a view. */
export const wallArrangement = z
  .strictObject({
    layout: z.enum(wallLayouts).default('even'),
    /** Positions for the layout `free`, in the order of the tiles. */
    places: z.array(wallPlace).max(limits.wallTiles).default([]),
    /** Number of tiles per page of the layout `even`. */
    page_tiles: z.int().min(1).max(limits.wallTiles).default(limits.wallTiles),
    /** Number of seconds until the next page; 0: pages change manually. */
    rotate_s: z.union([z.literal(0), z.int().min(minRotation).max(3600)]).default(0),
    /** Whether to show names on the tiles. */
    titles: z.boolean().default(true),
    clock: z.boolean().default(false),
    /** Whether to bring a camera of the view to the front when it is lost or returns. */
    alarm_cameras: z.boolean().default(false),
    /** Whether to bring a room of the view to the front when a person enters it. */
    alarm_people: z.boolean().default(false),
  })
  .refine(({ layout, places }) => layout !== 'free' || places.length > 0, {
    path: ['places'],
    error: 'must name at least one place for the layout free',
  })
  .refine(
    ({ places }) => !places.some((one, index) => places.slice(0, index).some((other) => placesOverlap(one, other))),
    {
      path: ['places'],
      error: 'must not overlap',
    },
  )
export type WallArrangement = z.output<typeof wallArrangement>

/** Arrangement of a view that stores none. */
export const evenArrangement: WallArrangement = wallArrangement.parse({})

export function isOnGrid({ x, y, w, h }: WallPlace): boolean {
  return x >= 0 && y >= 0 && w >= 1 && h >= 1 && x + w <= wallCells && y + h <= wallCells
}

export function placesOverlap(one: WallPlace, other: WallPlace): boolean {
  return one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h
}

/** Positions of the tiles in fixed layouts: large tiles first, then small ones from left to right and top to bottom. */
const presets: Readonly<Record<'1+5' | '1+7' | '2+8', readonly WallPlace[]>> = {
  '1+5': [
    { x: 0, y: 0, w: 8, h: 8 },
    ...small(4, [
      [8, 0],
      [8, 4],
      [0, 8],
      [4, 8],
      [8, 8],
    ]),
  ],
  '1+7': [
    { x: 0, y: 0, w: 9, h: 9 },
    ...small(3, [
      [9, 0],
      [9, 3],
      [9, 6],
      [0, 9],
      [3, 9],
      [6, 9],
      [9, 9],
    ]),
  ],
  '2+8': [
    { x: 0, y: 0, w: 6, h: 6 },
    { x: 6, y: 0, w: 6, h: 6 },
    ...small(3, [
      [0, 6],
      [3, 6],
      [6, 6],
      [9, 6],
      [0, 9],
      [3, 9],
      [6, 9],
      [9, 9],
    ]),
  ],
}

function small(size: number, corners: readonly (readonly [number, number])[]): WallPlace[] {
  return corners.map(([x, y]) => ({ x, y, w: size, h: size }))
}

/** Returns the positions of the tiles on a page; undefined: equal tiles, which are arranged automatically. */
export function placesOf({
  layout,
  places,
}: Pick<WallArrangement, 'layout' | 'places'>): readonly WallPlace[] | undefined {
  if (layout === 'even') return undefined
  return layout === 'free' ? places : presets[layout]
}

/** Returns the number of tiles on a page. */
export function tilesPerPage(arrangement: WallArrangement): number {
  return placesOf(arrangement)?.length ?? arrangement.page_tiles
}

/** Content of a tile on the wall: a camera, or the users of a room. */
export const wallItem = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('camera'), id: userId }),
  z.strictObject({ kind: z.literal('room'), id: roomId }),
])
export type WallItem = z.output<typeof wallItem>
