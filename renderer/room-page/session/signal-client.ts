import type { FromPerson, ToPerson } from '../../../shared/media/signal.ts'
import { signalVersion } from '../../../shared/media/signal-version.ts'
import { inPageScheme } from '../../kit/transport/page-scheme.ts'
import { silenceWatch } from '../../kit/media/silence-watch.ts'
import { browserSecret } from '../local/browser-secret.ts'
import { keepPass, keptPass } from '../local/entry-pass.ts'
import { type Ending, endingOf } from './ending.ts'
import { type Called, reach } from './reach.ts'
import { steadyTimeout } from './steady-timer.ts'

export interface JoinRequest {
  roomId: string
  /** Token of the join link; empty: none. */
  token: string
  hostPassword: string
  userName: string
}

/** The first answer of the node. */
export type Joined = Extract<ToPerson, { type: 'joined' }>

export interface SignalListener {
  /** Joined, for the first time or again. `resumed`: the session continued without a new join. */
  joined(message: Joined): void
  /** A host has to admit this user: `joined` or `ended` follows. */
  waiting(message: Extract<ToPerson, { type: 'waiting' }>): void
  /** Any other message. */
  message(message: ToPerson): void
  /**
   * The connection is lost; the client reconnects.
   * @param restarting the node announced its return, or a move of the room
   * @param mediaOver the node reported that media has ended as well
   */
  lost(restarting: boolean, mediaOver: boolean): void
  /** An attempt to connect failed; others follow unless `ended` does. */
  failed(): void
  /** The room is on another node of the site, e.g. `http://10.0.0.5:7084`; `joined` follows. */
  moved(origin: string): void
  /** Ended; the client does not reconnect. */
  ended(ending: Ending): void
}

/** Timeout from the connection to `joined`, in milliseconds. */
const joinMs = 8_000
/** Interval of pings, and time without any message after which the connection counts as lost, in milliseconds. */
const pingEveryMs = 3_000
const silenceMs = 8_000
/** Timeout of a ping if media is silent as well, in milliseconds. */
const doubtMs = 2_000
/**
 * Delay of a timer after which the page counts as having been asleep, in milliseconds: a suspended machine, or a hidden
 * page whose timers the browser delays.
 */
const sleptMs = 5_000
/**
 * Maximum time that counts as offline between two attempts, in milliseconds: an attempt takes less, and sleep must not
 * count.
 */
const maxAttemptMs = 15_000
/**
 * Delays between attempts, in milliseconds: a restarting node or controller returns within seconds, so the first
 * attempts are frequent.
 */
const waitsMs = [0, 500, 1_000, 1_000, 1_000, 1_000, 2_000, 3_000] as const
/**
 * Time without a connection after which the client stops reconnecting, in milliseconds; longer if the node announced
 * its return, because an update takes minutes.
 */
const giveUpMs = 90_000
const giveUpRestartMs = 15 * 60_000
/**
 * Number of attempts at the room's node before other nodes are tried first, and maximum number of other nodes per
 * attempt: the room may have moved.
 */
const triesAtHome = 3
const maxAsked = 4
/** Refusals that may be temporary while a node restarts. */
const passing: ReadonlySet<string> = new Set(['noRoom', 'taken', 'roomFull', 'busy', 'tooMany'])

/** Endings after which the user can rejoin as the same user; after all others the user is new. */
const keepsPass: ReadonlySet<string> = new Set(['lost', 'unreachable', 'outdated', 'replaced'])
/** Maximum number of consecutive moves to follow. */
const maxMoves = 3

/** Signalling of the room: joins, resumes a broken session, and joins again if that is no longer possible. */
export class SignalClient {
  /** URL of the node that served the page. */
  readonly #home: string
  /** URL of the room's node; that of `#home` until the room's node is known. */
  #origin: string
  /** URL of the node that is tried now. */
  #asked: string
  /** URLs of the site's other nodes. */
  #others: readonly string[] = []
  #restarting = false
  readonly #request: JoinRequest
  readonly #listener: SignalListener
  readonly #ticket: () => string
  #socket: WebSocket | undefined
  /** Aborts a pending connection. */
  #giveUp: () => void = () => {}
  #session = ''
  #userId: string | undefined
  #entered = false
  /** The user waits for admission by a host. */
  #waits = false
  #over = false
  #isLost = false
  /** Offline time so far, without time asleep, and the time at which it was last updated, in milliseconds. */
  #offlineMs = 0
  #countedAt = 0
  #tries = 0
  /** Moves since the last join. */
  #moves = 0
  #receivedAt = 0
  #pingId = 0
  #cancelRetry: () => void = () => {}
  #cancelWatch: () => void = () => {}
  readonly #finished = new AbortController()

  /**
   * @param origin origin of the node, e.g. `http://10.0.0.5:7082`
   * @param ticket returns the ticket of current media; empty: none
   */
  constructor(origin: string, request: JoinRequest, listener: SignalListener, ticket: () => string) {
    this.#home = origin
    this.#origin = origin
    this.#asked = origin
    this.#request = request
    this.#listener = listener
    this.#ticket = ticket
    this.#watch()
    const { signal } = this.#finished
    window.addEventListener('online', () => this.#comeBack(), { signal })
    window.addEventListener('offline', () => this.#drop(), { signal })
    silenceWatch.onAlarm(() => this.#doubt(), signal)
    this.#connect()
  }

  /** Sends a message if connected. Returns false otherwise: the message is lost. */
  send(message: FromPerson): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN || this.#isLost) return false
    this.#socket.send(JSON.stringify(message))
    return true
  }

  /** Returns whether an origin is one of the site's nodes. */
  knows(origin: string): boolean {
    return [this.#origin, this.#asked, ...this.#others].includes(origin)
  }

  /** Leaves the room. @param back the page reloads and rejoins soon */
  leave(back = false): void {
    if (this.#over) return
    if (!back) keepPass(this.#request.roomId, '')
    this.send({ type: 'leave' })
    this.#finish()
  }

  #connect(): void {
    this.#cancelRetry()
    this.#giveUp()
    this.#giveUp = reach(this.#called(), {
      opened: (origin, socket) => this.#opened(origin, socket),
      failed: () => this.#broken(),
    })
  }

  #opened(origin: string, socket: WebSocket): void {
    this.#asked = origin
    this.#socket = socket
    this.#receivedAt = Date.now()
    const timer = setTimeout(() => socket.close(), joinMs)
    socket.send(JSON.stringify(this.#greeting()))
    socket.addEventListener('message', ({ data }) => {
      if (socket !== this.#socket || this.#over) return
      this.#receivedAt = Date.now()
      const message = parsed(data)
      if (message === undefined) return
      if (message.type === 'joined' || message.type === 'waiting' || message.type === 'refused') clearTimeout(timer)
      this.#received(message)
    })
    socket.addEventListener('close', () => {
      clearTimeout(timer)
      if (socket === this.#socket && !this.#over) this.#broken()
    })
  }

  /**
   * Returns the URLs to connect to. The room's node comes first; after several failed attempts, every second attempt
   * starts with another node, in rotation.
   */
  #called(): Called {
    const known = this.#others.filter((origin) => origin !== this.#origin)
    const start = known.length === 0 ? 0 : this.#tries % known.length
    const others = [...known.slice(start), ...known.slice(0, start)].slice(0, maxAsked)
    // After an announced restart or move, other nodes are tried sooner. After an unannounced loss, the room's node
    // usually returns within seconds.
    const extra = this.#tries - (this.#restarting ? 1 : triesAtHome)
    const [other] = others
    if (extra <= 0 || other === undefined) return { first: this.#origin, others, onlyWhenSilent: true }
    if (extra % 2 === 1) return { first: other, others: [this.#origin, ...others.slice(1)], onlyWhenSilent: false }
    return { first: this.#origin, others, onlyWhenSilent: false }
  }

  #greeting(): FromPerson {
    if (this.#session !== '' && this.#asked === this.#origin)
      return { type: 'resume', version: signalVersion, session: this.#session }
    const { roomId, token, hostPassword, userName } = this.#request
    const ticket = this.#ticket()
    return {
      type: 'join',
      version: signalVersion,
      room_id: roomId,
      token,
      host_password: hostPassword,
      user_name: userName,
      browser: browserSecret(),
      pass: keptPass(roomId),
      ...(this.#userId === undefined ? {} : { user_id: this.#userId }),
      ...(ticket === '' ? {} : { ticket }),
    }
  }

  #received(message: ToPerson): void {
    switch (message.type) {
      case 'joined':
        this.#entered = true
        this.#session = message.session
        this.#userId = message.you.user_id
        keepPass(this.#request.roomId, message.pass)
        this.#stands()
        this.#know(message.other_nodes)
        return this.#listener.joined(message)
      case 'nodes':
        return this.#know(message.other_nodes)
      case 'waiting':
        this.#waits = true
        this.#stands()
        return this.#listener.waiting(message)
      case 'refused':
        return this.#refused(message)
      case 'removed':
        if (message.reason === 'restarting') return this.#comesBack(message.media_over === true)
        return this.#end({ reason: message.reason, message: '' })
      case 'pong':
        return
      default:
        return this.#listener.message(message)
    }
  }

  #know(otherNodes: readonly string[]): void {
    this.#others = [...new Set([this.#home, ...otherNodes.map(inPageScheme)])]
  }

  /** The node has accepted this client: it is the room's node. */
  #stands(): void {
    this.#isLost = false
    this.#tries = 0
    this.#moves = 0
    this.#restarting = false
    if (this.#asked !== this.#origin) this.#listener.moved(this.#asked)
    this.#origin = this.#asked
  }

  #refused({ reason, message, url: named, opening }: Extract<ToPerson, { type: 'refused' }>): void {
    const url = named === undefined ? undefined : inPageScheme(named)
    // The site still reports the lost node as the room's node: retries until that node returns.
    if (reason === 'elsewhere' && url === this.#origin && this.#isLost) return
    if (reason === 'elsewhere' && url !== undefined && this.#moves < maxMoves) return this.#follow(url)
    const aside = this.#asked !== this.#origin
    const resuming = this.#session !== '' && !aside
    const again = (this.#entered || this.#waits) && (resuming || passing.has(reason))
    if (!again) {
      const outdated = reason === 'badRequest' && message.includes('version')
      const ending = outdated ? { reason: 'outdated' as const, message } : endingOf(reason, message)
      if (opening === undefined) return this.#end(ending)
      const { opens_in_ms: opensIn, starts_at: startsAt } = opening
      return this.#end({ ...ending, opening: { opensAt: Date.now() + opensIn, startsAt } })
    }
    // The session can no longer be resumed: joins again. For a guest, the lost connection may still occupy the name.
    if (resuming) {
      this.#tries = 0
      this.#session = ''
    }
    if (reason === 'taken') this.#userId = undefined
  }

  /** Connects to the room's new node. */
  #follow(origin: string): void {
    this.#moves += 1
    this.#session = ''
    this.#origin = origin
    this.#tries = 0
    this.#listener.moved(origin)
    const before = this.#socket
    this.#socket = undefined
    before?.close()
    this.#connect()
  }

  /** The node restarts, or the room moves to another node: reconnects without resuming. */
  #comesBack(mediaOver: boolean): void {
    this.#restarting = true
    this.#session = ''
    const socket = this.#socket
    this.#broken(mediaOver)
    socket?.close()
  }

  #broken(mediaOver = false): void {
    this.#socket = undefined
    this.#listener.failed()
    if (!this.#entered && !this.#waits) return this.#end({ reason: 'unreachable', message: '' })
    const now = Date.now()
    if (this.#isLost) this.#offlineMs += Math.min(now - this.#countedAt, maxAttemptMs)
    else {
      this.#isLost = true
      this.#offlineMs = 0
      this.#listener.lost(this.#restarting, mediaOver)
    }
    this.#countedAt = now
    if (this.#offlineMs > (this.#restarting ? giveUpRestartMs : giveUpMs))
      return this.#end({ reason: 'lost', message: '' })
    const wait = waitsMs[Math.min(this.#tries, waitsMs.length - 1)] ?? 0
    this.#tries += 1
    this.#cancelRetry = steadyTimeout(() => this.#connect(), wait)
  }

  #watch(): void {
    const due = Date.now() + pingEveryMs
    this.#cancelWatch = steadyTimeout(() => {
      this.#listen(Date.now() - due > sleptMs)
      this.#watch()
    }, pingEveryMs)
  }

  /**
   * Detects a dead connection by regular pings. @param slept the page was asleep, so that missing messages prove
   * nothing
   */
  #listen(slept: boolean): void {
    if (slept && this.#isLost) this.#comeBack()
    if (this.#socket === undefined || this.#isLost) return
    if (slept) this.#doubt()
    else if (Date.now() - this.#receivedAt > silenceMs) this.#drop()
    else this.send({ type: 'ping', id: ++this.#pingId })
  }

  /** Checks by a ping whether the path to the node is lost. */
  #doubt(): void {
    const socket = this.#socket
    const askedAt = Date.now()
    this.send({ type: 'ping', id: ++this.#pingId })
    steadyTimeout(() => {
      if (socket !== this.#socket || this.#receivedAt >= askedAt || this.#over) return
      // The page was asleep meanwhile: the answer may still arrive.
      if (Date.now() - askedAt > doubtMs + sleptMs) this.#doubt()
      else this.#drop()
    }, doubtMs)
  }

  /** Reconnects at once, with all attempts, when the network is back or the page is awake again. */
  #comeBack(): void {
    if (!this.#isLost) return
    this.#offlineMs = 0
    this.#tries = 0
    if (this.#socket === undefined) this.#connect()
  }

  /** Abandons the socket: without a network, closing it would take long. */
  #drop(): void {
    const socket = this.#socket
    if (socket === undefined || this.#isLost) return
    this.#broken()
    socket.close()
  }

  #end(ending: Ending): void {
    if (this.#over) return
    if (!keepsPass.has(ending.reason)) keepPass(this.#request.roomId, '')
    this.#finish()
    this.#listener.ended(ending)
  }

  #finish(): void {
    this.#over = true
    this.#cancelRetry()
    this.#cancelWatch()
    this.#finished.abort()
    this.#giveUp()
    this.#socket?.close()
    this.#socket = undefined
  }
}

/** Validates a message only roughly: the node and this page belong to one build. */
function parsed(data: unknown): ToPerson | undefined {
  if (typeof data !== 'string') return undefined
  try {
    const value: unknown = JSON.parse(data)
    return isMessage(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isMessage(value: unknown): value is ToPerson {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
