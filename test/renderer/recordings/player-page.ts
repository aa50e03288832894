import { Conductor } from '../../../renderer/console/pages/recordings/player/conductor.ts'
import { type Piece, pieceAt, pieceBefore } from '../../../renderer/console/pages/recordings/player/piece.ts'
import { StreamPlayer } from '../../../renderer/console/pages/recordings/player/stream-player.ts'
import { recordedThumbnail } from '../../../renderer/console/pages/recordings/player/thumbnail-film.ts'

/** A picture that was shown: its moment, and the number that it shows. */
interface Shown {
  at: number
  number: number
}

const bits = 16
const square = 16

/** Reads the number of a picture: squares at the top left, the lowest bit first. */
function numberOf(video: HTMLVideoElement): number {
  const canvas = document.createElement('canvas')
  canvas.width = bits * square
  canvas.height = square
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (context === null) throw new Error('there is no canvas')
  context.drawImage(video, 0, 0, bits * square, square, 0, 0, bits * square, square)
  let number = 0
  for (let bit = 0; bit < bits; bit++) {
    const [red = 0] = context.getImageData(bit * square + square / 2, square / 2, 1, 1).data
    if (red > 127) number += 2 ** bit
  }
  return number
}

/** Resolves when another picture is shown. */
function pictureOf(video: HTMLVideoElement): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const { readyState, seeking, currentTime, buffered, error } = video
      const ranges = Array.from({ length: buffered.length }, (_, one) => [buffered.start(one), buffered.end(one)])
      reject(
        new Error(
          `no picture came: ${JSON.stringify({ readyState, seeking, currentTime, ranges, error: error?.message })}`,
        ),
      )
    }, 20_000)
    video.requestVideoFrameCallback((_now, { mediaTime }) => {
      if (mediaTime < 0) return
      clearTimeout(timer)
      resolve()
    })
  })
}

/** The player's parts on a bare page, with what a test reads. */
export class PlayerPage {
  readonly players = new Map<string, StreamPlayer>()
  readonly shown = new Map<string, Shown[]>()
  readonly conductor: Conductor

  constructor(at: number) {
    this.conductor = new Conductor(at, () => {})
  }

  add(key: string, pieces: Piece[]): void {
    const video = document.createElement('video')
    video.muted = true
    document.body.append(video)
    const known = (time: number): Piece | undefined => pieceAt(pieces, time)
    const player = new StreamPlayer(
      video,
      { known, at: async (time) => known(time), before: async (time) => pieceBefore(pieces, time) },
      () => {},
    )
    this.players.set(key, player)
    const shown: Shown[] = []
    this.shown.set(key, shown)
    const note = (_now: number, { mediaTime }: { mediaTime: number }): void => {
      shown.push({ at: player.at - (video.currentTime - mediaTime) * 1_000, number: numberOf(video) })
      video.requestVideoFrameCallback(note)
    }
    video.requestVideoFrameCallback(note)
    this.conductor.add(key, player)
  }

  /** Seeks, and waits until the picture is shown. @returns milliseconds */
  async picture(key: string, at: number): Promise<number> {
    const video = this.players.get(key)?.video
    if (video === undefined) throw new Error('there is no such stream')
    const began = performance.now()
    const shown = pictureOf(video)
    await Promise.all([shown, this.conductor.seek(at)])
    return performance.now() - began
  }

  /** Steps, and waits until the picture is shown. @returns its number */
  async step(key: string, direction: 1 | -1): Promise<number> {
    const video = this.players.get(key)?.video
    if (video === undefined) throw new Error('there is no such stream')
    const shown = pictureOf(video)
    await Promise.all([shown, this.conductor.step(direction)])
    return numberOf(video)
  }

  readonly thumbnail = recordedThumbnail
}
