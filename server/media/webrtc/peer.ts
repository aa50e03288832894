import ndc, { type Audio, type PeerConnection, type RtcConfig, type Track, type Video } from 'node-datachannel'
import type { EventLoopDelay } from '../base/event-loop.ts'
import { Lifetime } from '../base/lifetime.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import { traffic } from '../base/traffic.ts'
import { Problem } from '../base/problem.ts'
import { advertise, candidatesOn } from './candidates.ts'
import type { DtlsCertificate } from './dtls-certificate.ts'
import { IceRestart } from './ice-restart.ts'
import type { Offer } from './offer.ts'
import type { RestartPort } from './restart-port.ts'
import type { IceCredentials } from './stun.ts'

export interface PeerSettings {
  /** UDP port shared by all connections of the node. */
  udpPort: number
  /** Address to bind; undefined for every interface except loopback. */
  bindAddress: string | undefined
  /** Addresses offered instead of the machine's own. */
  advertised: readonly string[]
  /** Port for clients that restart ICE; undefined: restarts are not supported. */
  restarts: RestartPort | undefined
  /** Certificate of all connections. If omitted, the library makes one per connection. */
  certificate?: DtlsCertificate
  /** Event loop delay of the node. */
  delay: Pick<EventLoopDelay, 'high'>
  log: MediaLog
}

/** The node's answer to an ICE restart. */
export interface RestartAnswer {
  credentials: IceCredentials
  /** `candidate:…`, without `a=`. */
  candidates: string[]
}

/** Timeouts for gathering addresses, and for a browser to connect after the answer, in milliseconds. */
const gatherMs = 2_000
const connectMs = 20_000
/** Interval of the checks for open tracks, in milliseconds. */
const checkEveryMs = 1

/** Open peers, protected from the garbage collector: libdatachannel silently closes collected connections. */
const alive = new Set<Peer>()

/**
 * Maximum number of connections. A machine can send pictures on a few hundred connections. A room of 50 people has
 * 2,500, most of them idle.
 */
const maxPeers = 5_000

/** Answer of the first ICE session, and later restarts. */
interface Answered {
  sdp: string
  client: IceCredentials
  restart: IceRestart | undefined
}

/**
 * One peer connection that answers one offer. Must be closed explicitly: a closed tab is detected only after a timeout.
 */
export class Peer {
  readonly #connection: PeerConnection
  readonly #settings: PeerSettings
  readonly #tracks: Track[] = []
  readonly #onClosed: () => void
  #cancelConnect: () => void = () => {}
  /** Handlers and timers of the connection. An error in one of them ends only this connection. */
  readonly lifetime = new Lifetime((error) => this.fail(error))
  #state = 'new'
  /** Answer to the offer; undefined before `answer` has finished. */
  #answered: Answered | undefined
  /**
   * Called when media switches to another path. Recently sent packets may be lost. Assignable, like `onOpen`, because
   * the owner creates the peer before its tracks.
   */
  onMoved: () => void = () => {}
  /** Called once the connection is established and its tracks accept packets. */
  onOpen: () => void = () => {}

  /**
   * @param onClosed called once when the connection ends, including by `close`
   * @throws Problem busy
   */
  constructor(name: string, settings: PeerSettings, onClosed: () => void) {
    if (alive.size >= maxPeers) throw new Problem('busy')
    this.#settings = settings
    this.#onClosed = onClosed
    this.#connection = new ndc.PeerConnection(name, {
      iceServers: [],
      disableAutoNegotiation: true,
      enableIceUdpMux: true,
      portRangeBegin: settings.udpPort,
      portRangeEnd: settings.udpPort,
      ...(settings.certificate === undefined ? {} : pemOf(settings.certificate)),
      ...(settings.bindAddress === undefined ? {} : { bindAddress: settings.bindAddress }),
    })
    alive.add(this)
    this.#connection.onStateChange(
      this.lifetime.guard((state: string) => {
        this.#state = state
        if (state === 'connected') this.#connected()
        if (state === 'closed' || state === 'failed' || state === 'disconnected') this.close()
      }),
    )
  }

  get closed(): boolean {
    return this.lifetime.over
  }

  /** State of the connection: new, connecting, connected, disconnected, failed or closed. */
  get state(): string {
    return this.closed ? 'closed' : this.#state
  }

  /**
   * Adds a media section to the answer. `onMessage` gets raw RTP and RTCP packets.
   * @throws Problem badOffer
   */
  addTrack(media: Audio | Video, onMessage: (message: Buffer) => void): Track {
    let track: Track
    try {
      track = this.#connection.addTrack(media)
    } catch {
      throw new Problem('badOffer', 'A media section cannot be answered.')
    }
    // Without this handler, cleanup crashes after a garbage collection.
    track.onClosed(() => {})
    // Called for every packet, so there is no wrapper function.
    track.onMessage((message) => {
      if (this.closed) return
      traffic.received += message.length
      try {
        onMessage(message)
      } catch (error) {
        this.fail(error)
      }
    })
    this.#tracks.push(track)
    return track
  }

  /**
   * Answers the offer after all addresses are gathered.
   * @throws Problem badOffer
   */
  async answer(offer: Offer): Promise<string> {
    const gathered = this.#whenGathered()
    try {
      this.#connection.setRemoteDescription(offer.sdp, 'offer')
      this.#connection.setLocalDescription('answer')
    } catch {
      this.close()
      throw new Problem('badOffer')
    }
    await gathered
    const sdp = this.closed ? undefined : this.#connection.localDescription()?.sdp
    if (sdp === undefined) throw new Problem('badOffer')
    this.#cancelConnect = this.lifetime.after(connectMs, () => this.close())
    const answer = advertise(sdp, this.#settings.advertised)
    this.#answered = { sdp: answer, client: offer.ice, restart: undefined }
    return answer
  }

  /**
   * Restarts ICE with the client, perhaps from another network (RFC 8445, section 9). Media uses the old path until the
   * new path works.
   * @throws Problem restart, noSession; Error of the system if no port is free
   */
  async restartIce(client: IceCredentials): Promise<RestartAnswer> {
    const { restarts, udpPort, bindAddress = '127.0.0.1' } = this.#settings
    if (restarts === undefined || this.#answered === undefined) throw new Problem('restart')
    const port = await restarts.open()
    if (this.closed) throw new Problem('noSession')
    const { sdp, client: first } = this.#answered
    const restart = (this.#answered.restart ??= new IceRestart(
      { node: credentialsOf(sdp), client: first, host: bindAddress, port: udpPort },
      restarts,
      this.lifetime,
      this.lifetime.guard(() => this.onMoved()),
    ))
    return { credentials: restart.begin(client), candidates: candidatesOn(port, sdp) }
  }

  /** Adds an address that the browser found later. Ignores an invalid candidate. */
  addCandidate(candidate: string, mid: string): void {
    if (this.closed) return
    try {
      this.#connection.addRemoteCandidate(candidate, mid)
    } catch {
      // The other candidates remain usable.
    }
  }

  /** Closes the connection after an unexpected error. */
  fail(error: unknown): void {
    this.#settings.log.error('a connection of a person failed', wholeText(error))
    this.close()
  }

  /** Closes the connection. Idempotent; never throws. */
  close(): void {
    if (this.closed) return
    this.lifetime.end()
    // Tracks must be closed first; otherwise the process never exits.
    for (const track of this.#tracks) quietly(() => track.close())
    quietly(() => this.#connection.close())
    alive.delete(this)
    try {
      this.#onClosed()
    } catch (error) {
      this.#settings.log.error('the handler of a closed connection failed', wholeText(error))
    }
  }

  /** Calls `onOpen` when the library has opened all tracks. */
  #connected(): void {
    if (!this.#tracks.every((track) => track.isOpen()))
      return void this.lifetime.after(checkEveryMs, () => this.#connected())
    this.#cancelConnect()
    this.onOpen()
  }

  /**
   * Resolves when all addresses are gathered. Must be called before gathering begins, which runs on other threads and
   * does not wait for a listener.
   */
  #whenGathered(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, gatherMs)
      this.#connection.onGatheringStateChange((state) => {
        if (state !== 'complete') return
        clearTimeout(timer)
        resolve()
      })
    })
  }
}

/** Returns the library's settings for a certificate. The library accepts PEM content in place of file names. */
function pemOf({ certificate, key }: DtlsCertificate): Pick<RtcConfig, 'certificatePemFile' | 'keyPemFile'> {
  return { certificatePemFile: certificate, keyPemFile: key }
}

function credentialsOf(sdp: string): IceCredentials {
  const value = (name: string): string => new RegExp(`^a=ice-${name}:(\\S+)`, 'm').exec(sdp)?.[1] ?? ''
  return { userFragment: value('ufrag'), password: value('pwd') }
}

function quietly(run: () => void): void {
  try {
    run()
  } catch {
    // Already closed.
  }
}
