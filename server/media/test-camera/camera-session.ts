import { randomInt } from 'node:crypto'
import type { Socket } from 'node:net'
import { plainAddress } from '../../../shared/client-address.ts'
import type { TestCameraState } from '../../../shared/media/test-camera.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'
import { sleep } from '../../../shared/sleep.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { Lifetime } from '../base/lifetime.ts'
import { RtspError } from '../rtsp/rtsp-error.ts'
import { methodOf, parseOffers } from '../rtsp/message-head.ts'
import { DatagramPair } from '../rtsp/datagram-pair.ts'
import { type RtspMessage, WireReader } from '../rtsp/wire-reader.ts'
import type { CameraContent } from './camera-content.ts'
import { cameraDescription, pictureType, soundType, trackNames } from './camera-description.ts'
import { MediaPlayer, type PlayedMedia, type TrackTransport } from './media-player.ts'
import { movedSegment, parseRequestPath, type RequestPath } from './request-path.ts'

/** Maximum number of messages of a client per second, and of requests that wait for their answer. */
const maxMessages = 200
const maxWaiting = 32
/** Maximum number of unsent bytes above which media is skipped, and above which a connection is closed. */
const maxUnsent = { media: 1_000_000, all: 2_000_000 } as const
/** Session timeout in seconds, and time after which a silent client is disconnected, in milliseconds. */
const timeoutSeconds = 60
const silentMs = { waiting: 30_000, playing: 90_000 } as const
/** Time without progress after which a client counts as one that does not read, in milliseconds. */
const unreadMs = 15_000
const checkMs = 1_000

const methods = 'OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, GET_PARAMETER, SET_PARAMETER, TEARDOWN'
const reasons: ReadonlyMap<number, string> = new Map([
  [200, 'OK'],
  [302, 'Moved Temporarily'],
  [400, 'Bad Request'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'Not Found'],
  [454, 'Session Not Found'],
  [455, 'Method Not Valid in This State'],
  [459, 'Aggregate Operation Not Allowed'],
  [461, 'Unsupported Transport'],
  [500, 'Internal Server Error'],
  [501, 'Not Implemented'],
])
/** Address that no client reaches (RFC 5737), as in answers of a camera behind NAT. */
const innerOrigin = 'rtsp://192.0.2.64:554'

/** Reports of a session to its camera. */
interface SessionListener {
  /** Called with an unexpected error, which ends the session. */
  failed: (error: unknown) => void
  /** Called once when the session has ended. */
  ended: () => void
}

type TrackKind = 'video' | 'audio'
/** A track that the client has set up. */
interface SetUpTrack {
  transport: TrackTransport
  isUdp: boolean
  close: () => void
}
interface Answer {
  status: number
  fields?: readonly string[]
  body?: string
  /** Runs after the answer is written. */
  afterwards?: () => void
}

/** One RTSP connection to a test camera (RFC 2326). Ends with its socket. */
export class CameraSession {
  readonly #socket: Socket
  readonly #content: CameraContent
  readonly #listener: SessionListener
  readonly #lifetime: Lifetime
  readonly #stop = new AbortController()
  readonly #messages = new RateLimit({ max: maxMessages, windowMs: 1_000, remembered: 1 })
  readonly #id = String(randomInt(10_000_000, 99_999_999))
  readonly #waiting: RtspMessage[] = []
  #isAnswering = false
  readonly #tracks = new Map<TrackKind, SetUpTrack>()
  #player: MediaPlayer | undefined
  #media: Lifetime | undefined
  /** Time of the last message or report of the client. */
  #heardAt = performance.now()
  #progress = { sent: 0, at: performance.now() }
  readonly #since = Date.now()

  constructor(socket: Socket, content: CameraContent, listener: SessionListener) {
    this.#socket = socket
    this.#content = content
    this.#listener = listener
    this.#lifetime = new Lifetime((error) => this.#fail(error))
    socket.setNoDelay(true)
    const reader = new WireReader({
      message: (message) => this.#received(message),
      packet: () => this.#heard(),
    })
    socket.on(
      'data',
      this.#lifetime.guard((chunk: Buffer) => reader.push(chunk)),
    )
    socket.once('close', () => this.#end())
    this.#lifetime.every(checkMs, () => this.#check())
  }

  get state(): TestCameraState['clients'][number] {
    const [track] = this.#tracks.values()
    return {
      address: plainAddress(this.#socket.remoteAddress),
      state: this.#player === undefined ? 'connected' : this.#player.isStalled ? 'stalled' : 'playing',
      transport: track === undefined ? null : track.isUdp ? 'udp' : 'tcp',
      since: this.#since,
    }
  }

  #heard(): void {
    this.#heardAt = performance.now()
    if (!this.#messages.take('')) this.#socket.destroy()
  }

  #received(message: RtspMessage): void {
    this.#heard()
    // Answers to requests that the camera never sends.
    if (message.startLine.startsWith('RTSP/')) return
    if (this.#waiting.push(message) > maxWaiting) return void this.#socket.destroy()
    if (!this.#isAnswering) mustNotFail(this.#answerWaiting())
  }

  /** Answers the requests one after another. Never rejects. */
  async #answerWaiting(): Promise<void> {
    this.#isAnswering = true
    const delayMs = this.#content.behaviours.number('slow-answers')
    try {
      for (let message = this.#waiting.shift(); message !== undefined; message = this.#waiting.shift()) {
        if (delayMs !== undefined) await sleep(delayMs, { signal: this.#stop.signal, ref: false })
        const answer = await this.#answer(message)
        if (this.#lifetime.over) return
        this.#write(message, answer)
        answer.afterwards?.()
      }
    } catch (error) {
      if (!this.#lifetime.over) this.#fail(error)
    } finally {
      this.#isAnswering = false
    }
  }

  async #answer(message: RtspMessage): Promise<Answer> {
    const { spec, behaviours, logins } = this.#content
    const method = methodOf(message.startLine)
    const path = parseRequestPath(message.startLine.split(' ')[1] ?? '')
    if (method === undefined) return { status: 400 }
    if (method === 'OPTIONS')
      return behaviours.has('no-options') ? { status: 501 } : { status: 200, fields: [`Public: ${methods}`] }
    const login = logins.check(method, message.headers.get('authorization')?.[0])
    if (login === 'locked') return { status: 403 }
    if (login !== 'right') return { status: 401, fields: [`WWW-Authenticate: ${logins.challenge}`] }
    if (path?.camera !== spec.name) return { status: 404 }
    switch (method) {
      case 'DESCRIBE':
        return this.#describe(path)
      case 'SETUP':
        return await this.#setUp(path, message.headers.get('transport')?.join(',') ?? '')
      case 'PLAY':
        return this.#play(path)
      case 'PAUSE':
        this.#stopMedia()
        return this.#inSession()
      case 'GET_PARAMETER':
      case 'SET_PARAMETER':
        return this.#inSession()
      case 'TEARDOWN':
        // The client closes the connection: GStreamer may send PAUSE after TEARDOWN.
        this.#stopMedia()
        return this.#inSession()
      default:
        return { status: 501 }
    }
  }

  #describe({ base, isSmall, isMoved }: RequestPath): Answer {
    const { spec, behaviours, clips } = this.#content
    if (behaviours.has('not-found')) return { status: 404 }
    if (behaviours.has('redirect') && !isMoved) return { status: 302, fields: [`Location: ${base}${movedSegment}`] }
    const body = cameraDescription(spec, behaviours, isSmall ? clips.small : clips.large, base)
    const fields = ['Content-Type: application/sdp']
    if (behaviours.has('wrong-content-base')) fields.push(`Content-Base: ${innerOrigin}/${spec.name}/`)
    else if (behaviours.description !== 'base-in-control') fields.push(`Content-Base: ${base}`)
    return { status: 200, fields, body }
  }

  async #setUp({ track }: RequestPath, field: string): Promise<Answer> {
    const { spec, behaviours } = this.#content
    const hasSound = spec.sound !== 'none'
    const kind: TrackKind | undefined =
      track === trackNames.video || (track === '' && !hasSound)
        ? 'video'
        : track === trackNames.audio && hasSound
          ? 'audio'
          : undefined
    if (this.#player !== undefined) return { status: 455 }
    if (kind === undefined) return { status: track === '' ? 459 : 404 }
    const offer = parseOffers(field).find(({ udp, clientPorts }) =>
      udp ? !behaviours.has('tcp-only') && clientPorts !== undefined : !behaviours.has('udp-only'),
    )
    if (offer === undefined) return { status: 461 }
    this.#tracks.get(kind)?.close()
    this.#tracks.delete(kind)
    const { clientPorts } = offer
    const first = 2 * this.#tracks.size
    const granted =
      offer.udp && clientPorts !== undefined
        ? await this.#openUdp(kind, clientPorts)
        : this.#openTcp(kind, offer.channels ?? [first, first + 1])
    return { status: 200, fields: [`Transport: ${granted}`, `Session: ${this.#id};timeout=${timeoutSeconds}`] }
  }

  #openTcp(kind: TrackKind, [rtp, rtcp]: readonly [number, number]): string {
    const transport: TrackTransport = {
      media: (packet) => this.#sendInterleaved(rtp, packet),
      report: (packet) => this.#sendInterleaved(rtcp, packet),
    }
    this.#tracks.set(kind, { transport, isUdp: false, close: () => {} })
    return `RTP/AVP/TCP;unicast;interleaved=${rtp}-${rtcp}`
  }

  async #openUdp(kind: TrackKind, ports: readonly [number, number]): Promise<string> {
    const pair = await DatagramPair.open(this.#socket.remoteAddress ?? '')
    // The client may have gone meanwhile.
    if (this.#lifetime.over) pair.close()
    pair.listen({ rtp: () => {}, rtcp: () => this.#heard(), failed: (error) => this.#fail(error) })
    pair.aim(ports)
    const transport: TrackTransport = {
      media: (packet) => pair.sendMedia(packet),
      report: (packet) => pair.sendReport(packet),
    }
    this.#tracks.set(kind, { transport, isUdp: true, close: () => pair.close() })
    return `RTP/AVP;unicast;client_port=${ports.join('-')};server_port=${pair.port}-${pair.port + 1}`
  }

  #play({ base, isSmall }: RequestPath): Answer {
    const { spec, behaviours, clips, sound } = this.#content
    if (this.#tracks.size === 0) return { status: 455 }
    if (this.#player !== undefined) return this.#inSession()
    const video = this.#tracks.get('video')
    const audio = this.#tracks.get('audio')
    const media: PlayedMedia = {
      picture: video && { clips, isSmall, payloadType: pictureType[spec.codec], transport: video.transport },
      sound:
        audio && sound && spec.sound !== 'none'
          ? { clip: sound, payloadType: soundType[spec.sound], isAac: spec.sound === 'aac', transport: audio.transport }
          : undefined,
      stray: video?.isUdp === false ? (bytes) => this.#send(bytes) : undefined,
    }
    const player = new MediaPlayer(media, behaviours)
    this.#player = player
    const info = Array.from(this.#tracks.keys(), (kind) => {
      const { sequence, timestamp } = player.firstNumbers(kind)
      return `url=${base}${trackNames[kind]};seq=${sequence};rtptime=${timestamp}`
    })
    return {
      status: 200,
      fields: [`Session: ${this.#id}`, 'Range: npt=0.000-', `RTP-Info: ${info.join(',')}`],
      afterwards: () => this.#startMedia(player),
    }
  }

  #startMedia(player: MediaPlayer): void {
    const media = new Lifetime((error) => this.#fail(error))
    this.#media = media
    player.start(media)
    const dropAfter = this.#content.behaviours.number('drop')
    if (dropAfter !== undefined) media.after(dropAfter * 1_000, () => this.#socket.destroy())
  }

  #stopMedia(): void {
    this.#media?.end()
    this.#media = undefined
    this.#player = undefined
  }

  #inSession(): Answer {
    return this.#tracks.size === 0 ? { status: 454 } : { status: 200, fields: [`Session: ${this.#id}`] }
  }

  #write({ headers }: RtspMessage, { status, fields = [], body = '' }: Answer): void {
    const sequence = /^\d{1,10}$/.exec(headers.get('cseq')?.[0] ?? '')?.[0]
    const lines = [
      `RTSP/1.0 ${status} ${reasons.get(status) ?? ''}`,
      ...(sequence === undefined || this.#content.behaviours.has('no-cseq') ? [] : [`CSeq: ${sequence}`]),
      'Server: Roomdesk lab test camera',
      ...fields,
      ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ]
    this.#send(Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`))
  }

  #sendInterleaved(channel: number, packet: Buffer): void {
    if (this.#socket.writableLength > maxUnsent.media) return
    this.#send(Buffer.concat([Buffer.from([0x24, channel, packet.length >> 8, packet.length & 0xff]), packet]))
  }

  #send(bytes: Buffer): void {
    if (!this.#socket.writable) return
    if (this.#socket.writableLength > maxUnsent.all) return void this.#socket.destroy()
    this.#socket.write(bytes)
  }

  /** Closes the connection of a client that is silent, or that reads nothing. */
  #check(): void {
    const now = performance.now()
    const [track] = this.#tracks.values()
    const isPlaying = this.#player !== undefined
    // Over TCP, a client that reads is alive.
    const maxSilence = !isPlaying ? silentMs.waiting : track?.isUdp === true ? silentMs.playing : Infinity
    const sent = this.#socket.bytesWritten - this.#socket.writableLength
    if (sent !== this.#progress.sent || this.#socket.writableLength === 0) this.#progress = { sent, at: now }
    if (now - this.#heardAt > maxSilence || now - this.#progress.at > unreadMs) this.#socket.destroy()
  }

  #fail(error: unknown): void {
    // Bytes of the client that are not RTSP are no failure of the camera.
    if (!(error instanceof RtspError)) this.#listener.failed(error)
    this.#socket.destroy()
  }

  #end(): void {
    this.#stopMedia()
    for (const { close } of this.#tracks.values()) close()
    this.#lifetime.end()
    this.#stop.abort()
    this.#listener.ended()
  }
}
