import type { Caller, Script } from '../camera/hostile-camera.ts'
import { HostileCamera, interleaved } from '../camera/hostile-camera.ts'
import type { FieldCase, FieldSound } from './field-case.ts'
import { type FieldFilm, fieldFilm, filmRate } from './field-film.ts'
import { usualPacker } from './packing.ts'

const everyMs = 1_000 / filmRate
const ticksPerPicture = 90_000 / filmRate
/** Most pictures that are sent at once on a machine that is late. */
const maxAtOnce = 5

/** A camera of the corpus: sends a film in the way of its case. */
export class FieldCamera implements AsyncDisposable {
  readonly film: FieldFilm
  readonly #cameras: HostileCamera[]
  readonly #case: FieldCase
  /** Pictures sent since the last PLAY. */
  sent = 0
  #paused = false

  private constructor(film: FieldFilm, cameras: HostileCamera[], field: FieldCase) {
    this.film = film
    this.#cameras = cameras
    this.#case = field
  }

  static async start(field: FieldCase): Promise<FieldCamera> {
    const film = await fieldFilm(field.film ?? 'plain')
    const elsewhere = typeof field.script === 'function' ? await HostileCamera.start({}, field.over) : undefined
    const script: Script =
      typeof field.script === 'function' ? field.script(elsewhere?.url ?? '') : (field.script ?? {})
    const first = await HostileCamera.start(script, field.over)
    const cameras = elsewhere === undefined ? [first] : [first, elsewhere]
    const camera = new FieldCamera(film, cameras, field)
    for (const each of cameras) {
      each.description = field.description?.(film, first.url) ?? describe(film, field)
      each.play = (caller) => camera.#play(caller)
      const { rewrite } = field
      if (rewrite !== undefined) each.rewrite = (message) => Buffer.from(rewrite(message.toString('latin1')), 'latin1')
    }
    return camera
  }

  get url(): string {
    const [first] = this.#cameras
    return (first?.url ?? '').replace(/\/live$/, this.#case.path ?? '/live')
  }

  /** Requests until now, e.g. `SETUP rtsp://127.0.0.1:5540/live/track1`. */
  get requests(): string[] {
    return this.#cameras
      .flatMap(({ calls }) => calls)
      .flatMap(({ requests }) => requests.map(({ method, url }) => `${method} ${url}`))
  }

  /** Sends no more pictures; the connection stays. */
  pause(): void {
    this.#paused = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#cameras.map((camera) => camera[Symbol.asyncDispose]()))
  }

  #play(caller: Caller): void {
    this.sent = 0
    const numbers = { next: 65_520 }
    const began = performance.now()
    let skipped = 0
    caller.every(10, () => {
      if (this.#paused) return
      const due = Math.floor((performance.now() - began) / everyMs) + 1 - skipped
      skipped += Math.max(0, due - this.sent - maxAtOnce)
      for (let left = Math.min(maxAtOnce, due - this.sent); left > 0; left--) this.#sendPicture(caller, numbers)
    })
    if (this.#case.sound !== undefined) this.#playSound(caller, this.#case.sound)
  }

  #sendPicture(caller: Caller, numbers: { next: number }): void {
    const {
      packing = usualPacker,
      packets = (all: readonly Buffer[]) => all,
      payloadType = this.#usualType,
    } = this.#case
    const { pictures } = this.film
    const index = this.sent
    const picture = pictures[index % pictures.length]
    if (picture === undefined) return
    const round = Math.floor(index / pictures.length)
    const at = round * pictures.length + picture.at
    const timestamp = this.#case.timestamp?.(at) ?? 90_000 + at * ticksPerPicture
    const made: Buffer[] = []
    const packed = packing(picture, this.film, index)
    for (const { payload, marker, later = 0, payloadType: type = payloadType, padded = false } of packed) {
      const header = Buffer.alloc(12)
      header.set([padded ? 0xa0 : 0x80, (marker ? 0x80 : 0) | type])
      header.writeUInt16BE(numbers.next & 0xffff, 2)
      numbers.next += 1
      header.writeUInt32BE((timestamp + later) >>> 0, 4)
      header.writeUInt32BE(0x1234, 8)
      made.push(Buffer.concat([header, payload]))
    }
    this.sent += 1
    const sent = packets(made, index)
    if (caller.clientPorts !== undefined) for (const packet of sent) caller.rtp(packet)
    else caller.write(Buffer.concat(sent.map((packet) => (packet[0] === 0x24 ? packet : interleaved(0, packet)))))
  }

  get #usualType(): number {
    return this.film.codec === 'JPEG' ? 26 : 96
  }

  #playSound(caller: Caller, sound: FieldSound): void {
    let index = 0
    caller.every(10, () => {
      // As far as the pictures are: a busy machine delays them.
      for (; !this.#paused && index * sound.everyMs <= this.sent * everyMs; index++) {
        const header = Buffer.alloc(12)
        header.set([0x80, (index === 0 ? 0x80 : 0) | sound.payloadType])
        header.writeUInt16BE(index & 0xffff, 2)
        header.writeUInt32BE((index * sound.ticks) >>> 0, 4)
        header.writeUInt32BE(0x9999, 8)
        caller.write(interleaved(sound.channel ?? 2, Buffer.concat([header, sound.payload(index)])))
      }
    })
  }
}

/** Format parameters of the picture, with its parameter sets. */
export function pictureFormat({ codec, sets }: FieldFilm): string {
  const coded = sets.map((set) => set.toString('base64'))
  if (codec === 'H265') return `sprop-vps=${coded[0] ?? ''};sprop-sps=${coded[1] ?? ''};sprop-pps=${coded[2] ?? ''}`
  const profile = sets[0]?.toString('hex', 1, 4) ?? ''
  return `packetization-mode=1;profile-level-id=${profile};sprop-parameter-sets=${coded.join(',')}`
}

/** Lines of the section of the picture. */
export function pictureSection(film: FieldFilm, { format = pictureFormat(film), control = 'track1' } = {}): string[] {
  if (film.codec === 'JPEG') return ['m=video 0 RTP/AVP 26', `a=control:${control}`]
  const lines = ['m=video 0 RTP/AVP 96', `a=rtpmap:96 ${film.codec}/90000`]
  if (film.sets.length > 0 && format !== '') lines.push(`a=fmtp:96 ${format}`)
  return [...lines, `a=control:${control}`]
}

/** First lines of a description. */
export const sessionLines = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=camera', 't=0 0']

/** Joins lines as RFC 8866 has it. */
export const lines = (...parts: readonly (string | readonly string[])[]): string => `${parts.flat().join('\r\n')}\r\n`

function describe(film: FieldFilm, { sound }: FieldCase): string {
  return lines(sessionLines, 'a=control:*', pictureSection(film), sound?.section ?? [])
}
