import { shallowReactive } from 'vue'
import { recordedThumbnail, type RecordedThumbnail } from './player/thumbnail-film.ts'
import type { StreamPieces } from './usePieces.ts'

/** Interval of pictures, in milliseconds. */
const everyMs = 60_000
/** Maximum number of pictures in memory, 10 kB each. */
const maxPictures = 500
/** Time for which the pointer must rest before a picture is requested, in milliseconds. */
const restMs = 60

/** Pictures under the pointer: one per minute of each stream, loaded one after the other, the latest request first. */
export function useHoverPictures() {
  const pictures = shallowReactive(new Map<string, RecordedThumbnail | null>())
  let wanted: { key: string; at: number; pieces: StreamPieces } | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let stop = new AbortController()
  let busy = false

  const nameOf = (key: string, at: number): string => `${key} ${Math.floor(at / everyMs)}`

  function want(key: string, at: number, pieces: StreamPieces): void {
    wanted = { key, at, pieces }
    clearTimeout(timer)
    timer = setTimeout(() => void work(), restMs)
  }

  function none(): void {
    clearTimeout(timer)
    wanted = undefined
    stop.abort()
    stop = new AbortController()
  }

  async function work(): Promise<void> {
    if (busy) return
    busy = true
    while (wanted !== undefined) {
      const { key, at, pieces } = wanted
      wanted = undefined
      const name = nameOf(key, at)
      if (!pictures.has(name)) keep(name, await load(pieces, at))
    }
    busy = false
  }

  async function load(pieces: StreamPieces, at: number): Promise<RecordedThumbnail | null | undefined> {
    const { signal } = stop
    try {
      const piece = await pieces.at(at)
      if (piece === undefined || piece.from > at || !piece.hasPicture) return null
      return await recordedThumbnail(piece.id, (at - piece.from) / 1_000, signal)
    } catch {
      // The pointer has moved on, or there is no picture: only the time is shown.
      return signal.aborted ? undefined : null
    }
  }

  function keep(name: string, picture: RecordedThumbnail | null | undefined): void {
    if (picture === undefined) return
    pictures.set(name, picture)
    for (const oldest of pictures.keys()) {
      if (pictures.size <= maxPictures) break
      pictures.delete(oldest)
    }
  }

  return { want, none, of: (key: string, at: number) => pictures.get(nameOf(key, at)) ?? undefined }
}
