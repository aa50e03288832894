import { setTimeout as sleep } from 'node:timers/promises'
import ndc, { type PeerConnection, type Track } from 'node-datachannel'
import { sole } from '../sole-leadership.ts'
import type { JanusHandle } from '../../../server/nodes/janus/wire/janus-handle.ts'
import { JanusSession } from '../../../server/nodes/janus/wire/janus-session.ts'
import { JanusSocket } from '../../../server/nodes/janus/wire/janus-socket.ts'
import { whenGathered } from '../media/answered-offer.ts'
import { type Publishing, WhipPeer } from '../media/whip-peer.ts'
import type { JanusServer } from './janus-server.ts'
import { JanusViewer } from './janus-viewer.ts'
import type { Tickets } from './participant.ts'

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: console.error }
const soon = (): AbortSignal => AbortSignal.timeout(10_000)

/** A participant of a Janus room by its own API: publishes, or subscribes to publishers as browser clients do. */
export class RoomPeer {
  readonly #janus: JanusServer
  readonly #token: string | undefined
  readonly #socket: JanusSocket
  readonly session: JanusSession
  readonly #handle: JanusHandle
  readonly #room: string
  readonly #credentials: Readonly<Record<string, unknown>>
  readonly #id: string
  /** Other publishers in the room. */
  readonly publishers = new Set<string>()
  readonly #listeners = new Set<() => void>()
  #publishing: WhipPeer | undefined

  private constructor(
    socket: JanusSocket,
    handle: JanusHandle,
    how: {
      janus: JanusServer
      session: JanusSession
      room: string
      id: string
      token: string | undefined
      credentials: Readonly<Record<string, unknown>>
    },
  ) {
    this.#janus = how.janus
    this.#token = how.token
    this.#socket = socket
    this.session = how.session
    this.#handle = handle
    this.#room = how.room
    this.#id = how.id
    this.#credentials = how.credentials
  }

  /** Joins. @param tickets credentials, if the node needs any; default: the API secret */
  static async join(janus: JanusServer, room: string, id: string, tickets?: Tickets): Promise<RoomPeer> {
    const { wsUrl: url, configuration } = janus
    const { token, roomToken } = tickets ?? {}
    const options = {
      url,
      apiSecret: tickets === undefined ? configuration.secrets.api : '',
      token,
      leadership: sole,
      logger,
    }
    const socket = await JanusSocket.open(options, soon())
    const session = await JanusSession.create(socket, soon())
    const handle = await session.attach('janus.plugin.videoroom', soon())
    const join = { request: 'join', ptype: 'publisher', room, id, display: id, token: roomToken }
    const { data } = await handle.request(join, soon())
    const credentials = { private_id: data.private_id, ...(roomToken === undefined ? {} : { token: roomToken }) }
    const peer = new RoomPeer(socket, handle, { janus, session, room, id, token, credentials })
    peer.#note(data)
    handle.onEvent((event) => event.type === 'plugin' && peer.#note(event.data))
    return peer
  }

  /** Publishes until the end. */
  async publish(how: Publishing = {}): Promise<WhipPeer> {
    this.#publishing = await WhipPeer.openBy(async (connection) => {
      const gathered = whenGathered(connection)
      connection.setLocalDescription('offer')
      await gathered
      const sdp = wholeDescription(connection)
      const { jsep } = await this.#handle.request({ request: 'publish' }, soon(), { type: 'offer', sdp })
      connection.setRemoteDescription(jsep?.sdp ?? '', 'answer')
    }, how)
    return this.#publishing
  }

  /** Resolves when the participant publishes, or stops publishing. */
  async until(id: string, isThere = true): Promise<void> {
    while (this.publishers.has(id) !== isThere) await new Promise<void>((resolve) => this.#once(resolve))
  }

  /** Subscribes to a publisher; resolves at the first packet. */
  watch(feed: string): Promise<RoomViewer> {
    return RoomViewer.open(this.session, { ...this.#credentials, room: this.#room }, feed)
  }

  /** Subscribes to a picture without sound, over a connection of its own, and counts packets; resolves at the first picture. */
  count(feed: string): Promise<JanusViewer> {
    return JanusViewer.watch(this.#janus, this.#room, feed, { token: this.#token, inRoom: this.#credentials })
  }

  /** Leaves, and closes everything it has. */
  async leave(): Promise<void> {
    await this.#publishing?.close()
    // Janus answers the end of a session before it frees the id in the room.
    await this.#handle.request({ request: 'leave' }, soon()).catch(() => {})
    await this.session.destroy(soon()).catch(() => {})
    this.#socket.close()
  }

  #once(resolve: () => void): void {
    const listener = (): void => {
      this.#listeners.delete(listener)
      resolve()
    }
    this.#listeners.add(listener)
  }

  #note(data: Readonly<Record<string, unknown>>): void {
    const {
      publishers = [],
      unpublished,
      leaving,
      kicked,
    } = data as {
      publishers?: { id: string }[]
      unpublished?: string
      leaving?: string
      kicked?: string
    }
    for (const { id } of publishers) if (id !== this.#id) this.publishers.add(id)
    for (const id of [unpublished, leaving, kicked]) if (id !== undefined) this.publishers.delete(id)
    for (const listener of [...this.#listeners]) listener()
  }
}

/** A subscription with a real WebRTC connection. */
export class RoomViewer {
  readonly #connection: PeerConnection
  readonly #handle: JanusHandle
  readonly #tracks: Track[] = []
  readonly #first = Promise.withResolvers<void>()
  /** Candidates of Janus that are not used yet. */
  readonly #candidates: { candidate: string; sdpMid: string }[] = []
  #isAnswered = false
  /** Arrival of each media packet, in milliseconds of `performance.now`. */
  readonly arrivals: number[] = []
  /** Arrival of the first key frame. */
  keyFrameAt = 0

  private constructor(handle: JanusHandle) {
    this.#handle = handle
    this.#connection = new ndc.PeerConnection('viewer', { iceServers: [], disableAutoNegotiation: true })
    this.#connection.onTrack((track) => {
      this.#tracks.push(track)
      track.setMediaHandler(new ndc.RtcpReceivingSession())
      track.onClosed(() => {})
      track.onMessage((message) => this.#take(message))
    })
    handle.onEvent((event) => {
      if (event.type !== 'trickle') return
      const { candidate, sdpMid = '0' } = event.candidate
      if (candidate === undefined) return
      this.#candidates.push({ candidate, sdpMid })
      this.#addCandidates()
    })
  }

  static async open(
    session: JanusSession,
    inRoom: Readonly<Record<string, unknown>>,
    feed: string,
  ): Promise<RoomViewer> {
    const viewer = new RoomViewer(await session.attach('janus.plugin.videoroom', soon()))
    const join = { request: 'join', ptype: 'subscriber', ...inRoom, streams: [{ feed }] }
    const { jsep } = await viewer.#handle.request(join, soon())
    const gathered = whenGathered(viewer.#connection)
    viewer.#connection.setRemoteDescription(jsep?.sdp ?? '', 'offer')
    viewer.#connection.setLocalDescription('answer')
    await gathered
    const answer = { type: 'answer' as const, sdp: wholeDescription(viewer.#connection) }
    await viewer.#handle.request({ request: 'start' }, soon(), answer)
    // Delays the first DTLS message until Janus is ready: the library repeats it after a second, a browser after 50 ms.
    await sleep(40)
    viewer.#isAnswered = true
    viewer.#addCandidates()
    await viewer.#first.promise
    return viewer
  }

  /** Maximum interval without a packet since the first one, until now, in milliseconds. */
  maxGap(): number {
    const times = [...this.arrivals, performance.now()]
    return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)))
  }

  async close(): Promise<void> {
    for (const track of this.#tracks) track.close()
    this.#connection.close()
    await this.#handle.detach(soon()).catch(() => {})
  }

  #addCandidates(): void {
    if (!this.#isAnswered) return
    for (const { candidate, sdpMid } of this.#candidates.splice(0))
      this.#connection.addRemoteCandidate(candidate, sdpMid)
  }

  #take(message: Buffer): void {
    // Skips RTCP, which shares the port (RFC 5761, section 4).
    const type = message[1] ?? 0
    if (type >= 192 && type <= 223) return
    this.arrivals.push(performance.now())
    // Header extensions precede the picture (RFC 3550, section 5.3.1).
    const extension = ((message[0] ?? 0) & 0x10) === 0 ? 0 : 4 + message.readUInt16BE(14) * 4
    if (this.keyFrameAt === 0 && message[12 + extension] === 0x65) this.keyFrameAt = performance.now()
    this.#first.resolve()
  }
}

/** Makes a description with all its addresses, and without trickle ICE. */
function wholeDescription(connection: PeerConnection): string {
  return (connection.localDescription()?.sdp ?? '').replace('a=ice-options:trickle\r\n', '')
}
