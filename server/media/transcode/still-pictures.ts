import { onAbort } from '../../../shared/abort.ts'
import { keyPictureFrom } from '../feeds/key-picture.ts'
import type { KeyPicture } from '../feeds/feed-tracks.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import type { ConvertedInput, DecodedKeyFrame } from './converted-input.ts'
import type { FfmpegRunner } from './ffmpeg-runner.ts'
import { matroskaFrame, matroskaHeader, type MatroskaTrack } from './matroska.ts'

/** Interval of pictures of one camera, in milliseconds. */
const everyMs = 60_000
/** Timeout for one picture, in milliseconds. */
const makeMs = 15_000
/** Timeout for the next independently decodable frame, in milliseconds. Such a frame comes every few seconds. */
const frameMs = 8_000
/** Maximum number of queued pictures; a rejected caller tries again. */
const maxWaiting = 16

interface StillSource {
  track: MatroskaTrack
  frame: Buffer
}

/**
 * Makes small pictures of all cameras without viewers, with one ffmpeg at a time, in addition to the conversions for
 * viewers.
 */
export class StillPictures {
  readonly #runner: () => FfmpegRunner | undefined
  readonly #log: MediaLog
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** @param runner returns undefined while no pictures can be made */
  constructor(runner: () => FfmpegRunner | undefined, log: MediaLog) {
    this.#runner = runner
    this.#log = log
  }

  /** Whether too many pictures are queued to add another. */
  get crowded(): boolean {
    return this.#waiting >= maxWaiting
  }

  /** Makes a picture in H.264 Annex B form; undefined if this failed. Never rejects. */
  make(source: StillSource, ended: AbortSignal): Promise<Buffer | undefined> {
    this.#waiting += 1
    const made = this.#last.then(async () => {
      try {
        const runner = this.#runner()
        if (runner === undefined || ended.aborted) return undefined
        return await onePicture(runner, source, AbortSignal.any([ended, AbortSignal.timeout(makeMs)]), this.#log)
      } catch (error) {
        this.#log.error('a small picture could not be made', wholeText(error))
        return undefined
      } finally {
        this.#waiting -= 1
      }
    })
    this.#last = made
    return made
  }
}

/** Newest picture of one camera, made on request and at most once a minute. */
export class CameraStill {
  readonly #pictures: StillPictures
  readonly #ended = new AbortController()
  #madeAt = -Infinity
  #picture: KeyPicture | undefined
  #making: Promise<KeyPicture | undefined> | undefined

  constructor(pictures: StillPictures) {
    this.#pictures = pictures
  }

  /** Returns the newest picture; undefined if there is none yet, or it cannot be made. Never rejects. */
  async newest(input: ConvertedInput): Promise<KeyPicture | undefined> {
    if (performance.now() - this.#madeAt < everyMs && this.#making === undefined) return this.#picture
    this.#making ??= this.#make(input).finally(() => {
      this.#making = undefined
    })
    return await this.#making
  }

  /** Cancels pending pictures when the camera ends. */
  close(): void {
    this.#ended.abort()
  }

  async #make(input: ConvertedInput): Promise<KeyPicture | undefined> {
    const { signal } = this.#ended
    if (this.#pictures.crowded) return undefined
    const key = await keyFrameOf(input, AbortSignal.any([signal, AbortSignal.timeout(frameMs)]))
    if (key === undefined) return undefined
    this.#madeAt = performance.now()
    const track = { ...input.source.matroska, number: 1 }
    const made = await this.#pictures.make({ track, frame: key.frame }, signal)
    this.#picture = made && keyPictureFrom(made, key.at)
    return this.#picture
  }
}

function keyFrameOf(input: ConvertedInput, signal: AbortSignal): Promise<DecodedKeyFrame | undefined> {
  return new Promise((resolve) => {
    const stop = input.takeKeyFrame(resolve)
    onAbort(signal, () => {
      stop()
      resolve(undefined)
    })
  })
}

const startCode = Buffer.from([0, 0, 0, 1])

function onePicture(
  runner: FfmpegRunner,
  { track, frame }: StillSource,
  signal: AbortSignal,
  log: MediaLog,
): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let made: Buffer | undefined
    const ffmpeg = runner.start(
      { video: { codec: 'H264', shownFromMs: 0, interlaced: false, still: true }, audio: false },
      {
        picture: ({ units }) => (made = Buffer.concat(units.flatMap((unit) => [startCode, unit]))),
        sound: () => {},
        ended: (why) => {
          if (made === undefined) log.debug('ffmpeg made no small picture', `${why} ${ffmpeg.complaint}`)
          unregister()
          resolve(made)
        },
      },
    )
    const unregister = onAbort(signal, () => {
      ffmpeg.kill()
      resolve(made)
    })
    if (signal.aborted) return
    ffmpeg.write(matroskaHeader([track]))
    ffmpeg.write(matroskaFrame(track.number, 0, true, frame))
    ffmpeg.finish()
  })
}
