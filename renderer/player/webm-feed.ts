import type { LivePicture, LivePicturePart } from '../../shared/recordings/live-picture.ts'

/** Distance to the newest picture at which the page plays, and from which it jumps forward, in seconds. */
const behind = 1.5
const tooFar = 8
/** Seconds of played video that stay in memory. */
const kept = 30

/** Plays WebM fragments by Media Source Extensions, because HLS does not support VP8. */
export class WebmFeed {
  readonly #video: HTMLVideoElement
  readonly #base: string
  readonly #source = new MediaSource()
  #buffer: SourceBuffer | undefined
  #segment = 0
  #last: LivePicturePart | undefined
  /** Moment of time 0 of the video, in milliseconds since the epoch. */
  #zero = 0

  /** @param base address of the stream with a slash at its end */
  constructor(video: HTMLVideoElement, base: string) {
    this.#video = video
    this.#base = base
    video.src = URL.createObjectURL(this.#source)
  }

  static plays(codecs: string): boolean {
    return 'MediaSource' in globalThis && MediaSource.isTypeSupported(typeOf(codecs))
  }

  /** End of the appended media, in milliseconds since the epoch; 0: none. The next request asks for media after it. */
  get end(): number {
    return this.#last === undefined ? 0 : this.#last.segment + (this.#last.start + this.#last.duration) * 1_000
  }

  /** Seconds from the recorded moment to now; undefined before the first picture. */
  get latency(): number | undefined {
    if (this.#zero === 0) return undefined
    return (Date.now() - this.#zero) / 1_000 - this.#video.currentTime
  }

  /** Appends new fragments. @throws if they cannot be loaded or played */
  async add({ codecs, fragments }: LivePicture): Promise<void> {
    await this.#open(codecs)
    const news = this.#last === undefined ? fragments.slice(-3) : fragments.filter((each) => isNewer(each, this.#last))
    for (const fragment of news) await this.#append(fragment)
    await this.#forget()
    this.#follow()
  }

  async #open(codecs: string): Promise<void> {
    if (this.#source.readyState !== 'open') {
      await new Promise((resolve) => this.#source.addEventListener('sourceopen', resolve, { once: true }))
    }
    this.#buffer ??= this.#source.addSourceBuffer(typeOf(codecs))
  }

  async #append(fragment: LivePicturePart): Promise<void> {
    const { segment, init, offset, bytes, start } = fragment
    if (this.#zero === 0) this.#zero = segment + start * 1_000
    if (segment !== this.#segment) {
      const head = await this.#bytes(segment, init)
      await this.#settled((buffer) => {
        // The last cluster has no end of its own.
        buffer.abort()
        buffer.timestampOffset = (segment - this.#zero) / 1_000
        buffer.appendBuffer(head)
      })
      this.#segment = segment
    }
    const body = await this.#bytes(segment, { offset, bytes })
    await this.#settled((buffer) => buffer.appendBuffer(body))
    this.#last = fragment
  }

  async #bytes(segment: number, { offset, bytes }: { offset: number; bytes: number }): Promise<ArrayBuffer> {
    const headers = { range: `bytes=${offset}-${offset + bytes - 1}` }
    const answer = await fetch(`${this.#base}${segment}.webm`, { headers })
    if (answer.status !== 206) throw new Error(`the stream answers ${answer.status}`)
    return await answer.arrayBuffer()
  }

  async #forget(): Promise<void> {
    const { buffered } = this.#video
    const limit = this.#video.currentTime - kept
    if (buffered.length === 0 || buffered.start(0) > limit - 5) return
    await this.#settled((buffer) => buffer.remove(0, limit))
  }

  /** Stays close to the newest picture, and skips gaps. */
  #follow(): void {
    const { buffered, currentTime } = this.#video
    if (buffered.length === 0) return
    const last = buffered.length - 1
    const [start, end] = [buffered.start(last), buffered.end(last)]
    if (currentTime < start || end - currentTime > tooFar) this.#video.currentTime = Math.max(start, end - behind)
  }

  async #settled(change: (buffer: SourceBuffer) => void): Promise<void> {
    const buffer = this.#buffer
    if (buffer === undefined) return
    await new Promise<void>((resolve, reject) => {
      buffer.addEventListener('updateend', () => resolve(), { once: true })
      buffer.addEventListener('error', () => reject(new Error('the browser refuses the stream')), { once: true })
      change(buffer)
    })
  }
}

function typeOf(codecs: string): string {
  return `video/webm; codecs="${codecs}"`
}

function isNewer({ segment, offset }: LivePicturePart, last: LivePicturePart | undefined): boolean {
  return last === undefined || segment > last.segment || (segment === last.segment && offset > last.offset)
}
