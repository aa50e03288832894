import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { findRecordings } from '../../../server/recordings/index/recorded-files.ts'
import { electionTimes } from '../../../server/store/election/timings.ts'
import type { OrderedRecording } from '../../../shared/console/orders.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { partSuffix, segmentPath, streamOfPath } from '../../../shared/recordings/segment-path.ts'
import { readRecorded } from '../recordings/recorded-file.ts'
import type { SiteController } from '../sites/controllers-site.ts'

/** How long two controllers may record one camera, in milliseconds: until the lease of the former leader has ended, and the last packets. */
const bothMs = electionTimes.lease + electionTimes.margin + 500
/** Length of the time line that is read, in milliseconds: a story takes less. */
const spanMs = 24 * 60 * 60 * 1_000
/** Folder of the files of orders, below the recordings folder. */
const filesFolder = '~files'
/** Segments on one page of an answer. */
const pageSize = 2_000

/** A segment as the index of a controller has it. */
export interface IndexedPiece {
  file: string
  stream: string
  from: number
  to: number
  bytes: number
}

/** Reads the whole index of the leader. */
export async function indexOf({ headless }: SiteController): Promise<IndexedPiece[]> {
  const pieces: IndexedPiece[] = []
  const { items: sources } = await headless.rpc('recordings.sources', { limit: 500 })
  for (const { room_id, user_id, source, quality } of sources) {
    const stream = { room_id, user_id, source, quality }
    const { items, more } = await headless.rpc('recordings.pieces', {
      ...{ stream, from: Date.now() - spanMs, to: Date.now() + 60_000, limit: pageSize },
    })
    if (more) throw new Error(`${user_id} has more than ${pageSize} segments.`)
    for (const { from, to, bytes, container } of items) {
      const named = { roomId: room_id, userId: user_id, source, quality }
      const file = segmentPath(named, from, container === 'webm' ? 'webm' : 'mp4')
      pieces.push({ file, stream: user_id, from, to, bytes })
    }
  }
  return pieces
}

/** Differences between an index and its folder while nothing is recorded: files without a row, rows without a file, files that were not completed, sizes. */
export async function differences(folder: string, pieces: readonly IndexedPiece[]): Promise<string[]> {
  const rows = new Map(pieces.map((piece) => [piece.file, piece]))
  const found: string[] = []
  if (rows.size < pieces.length) found.push('A file has several rows.')
  for await (const { file, isPart } of findRecordings(folder)) {
    const row = rows.get(file)
    rows.delete(file)
    if (isPart) found.push(`${file} was not completed`)
    else if (row === undefined) found.push(`${file} has no row`)
    else {
      const size = await sizeOf(join(folder, file))
      if (size !== row.bytes) found.push(`${file} has ${size} bytes, and ${row.bytes} in its row`)
    }
  }
  return [...found, ...Array.from(rows.keys(), (file) => `${file} has a row and no file`)]
}

/**
 * Differences between the files of ordered recordings and their orders, which are all stored: files of no order or left over from their making, and missing ones.
 * @param folders recordings folders of all controllers
 */
export async function orderDifferences(
  folders: ReadonlySet<string>,
  orders: readonly OrderedRecording[],
): Promise<string[]> {
  const due = new Map<string, number>(
    orders.flatMap(({ id, files }) =>
      files.map(({ container, bytes }, index): [string, number] => [`${id}-${index}.${container}`, bytes]),
    ),
  )
  const found: string[] = []
  for (const folder of folders)
    for (const name of await namesIn(join(folder, filesFolder))) {
      const bytes = due.get(name)
      due.delete(name)
      const size = await sizeOf(join(folder, filesFolder, name))
      if (bytes === undefined) found.push(`${name} is the file of no order`)
      else if (size !== bytes) found.push(`${name} has ${size} bytes, and ${bytes} in its order`)
    }
  return [...found, ...Array.from(due.keys(), (name) => `${name} is missing`)]
}

/** Spans in which two segments of one camera were recorded at the same time for longer than a lease. */
export function overlaps(pieces: readonly IndexedPiece[]): string[] {
  const found: string[] = []
  const ordered = pieces.toSorted((one, other) => one.from - other.from)
  const newest = new Map<string, IndexedPiece>()
  for (const piece of ordered) {
    const before = newest.get(piece.stream)
    if (before !== undefined && Math.min(before.to, piece.to) - piece.from > bothMs)
      found.push(`${piece.stream}: ${JSON.stringify(before)} and ${JSON.stringify(piece)}`)
    if (before === undefined || piece.to > before.to) newest.set(piece.stream, piece)
  }
  return found
}

/** Plays every complete file of some folders once: ffprobe reads it to its end. */
export class PlayedFiles {
  readonly #played = new Set<string>()

  /** Plays the segments. @throws Error with what ffprobe says about a file */
  async play(folder: string): Promise<void> {
    for await (const { file, isPart } of findRecordings(folder)) if (!isPart) await this.#play(join(folder, file))
  }

  /** Plays the files of orders, none of which may be under way. @throws Error with what ffprobe says about a file */
  async playOrdered(folder: string): Promise<void> {
    for (const name of await namesIn(join(folder, filesFolder))) await this.#play(join(folder, filesFolder, name))
  }

  async #play(path: string): Promise<void> {
    if (this.#played.has(path)) return
    try {
      const { pictures } = await readRecorded(path)
      if (pictures.length === 0) throw new Error(`${path} has no picture.`)
      this.#played.add(path)
    } catch (error) {
      // What was recorded for viewers alone, and files of deleted orders, are deleted.
      if ((await sizeOf(path)) !== undefined) throw error
    }
  }

  get count(): number {
    return this.#played.size
  }
}

/** Sizes of the files that are being written, by camera. */
export async function openSizes(folder: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  for await (const { file, isPart } of findRecordings(folder)) {
    if (!isPart) continue
    const name = streamOfPath(file)?.userId ?? ''
    const size = (await sizeOf(join(folder, file + partSuffix))) ?? 0
    sizes.set(name, (sizes.get(name) ?? 0) + size)
  }
  return sizes
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
