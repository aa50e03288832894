import type { FromPerson, ToPerson } from '../../../shared/media/signal.ts'
import { signalVersion } from '../../../shared/media/signal-version.ts'
import { silenceWatch } from '../../kit/media/silence-watch.ts'
import { browserSecret } from '../local/browser-secret.ts'
import { keepPass, keptPass } from '../local/entry-pass.ts'
import { type Ending, endingOf } from './ending.ts'
import { type Called, reach } from './reach.ts'

/** Input of a join. */
export interface JoinRequest {
  roomId: string
  /** Token of the join link; empty for none. */
  token: string
  hostPassword: string
  userName: string
}

/** The first answer of the node. */
export type Joined = Extract<ToPerson, { type: 'joined' }>

/** Events of a connection. */
export interface SignalListener {
  /** In, for the first time or again; `resumed`: as if nothing had happened. */
  joined(message: Joined): void
  /** A host has to let this person in: `joined` or `ended` follows. */
  waiting(topic: string): void
  /** Whatever comes after that. */
  message(message: ToPerson): void
  /**
   * The connection broke; it is being mended.
   * @param restarting the node said that it will be back, or that the room goes to another one
   * @param mediaOver it said that sound and pictures are over, too
   */
  lost(restarting: boolean, mediaOver: boolean): void
  /** The room is on another node of the site from now on, e.g. `http://10.0.0.5:7084`; `joined` follows. */
  moved(origin: string): void
  /** It is over for good. */
  ended(ending: Ending): void
}

/** From the connection to `joined`. */
const joinMs = 8_000
/** A question to the node while nothing comes, and how long its answer may take. */
const pingEveryMs = 3_000
const silenceMs = 8_000
/** And how long when the media fell silent, too. */
const doubtMs = 2_000
/** A node or a controller that starts again is there within some seconds: so long it is tried every second. */
const waitsMs = [0, 500, 1_000, 1_000, 1_000, 1_000, 2_000, 3_000] as const
/** After so long without a connection the page gives up; and where the node said that it will be back: an update takes its time. */
const giveUpMs = 90_000
const giveUpRestartMs = 15 * 60_000
/** The room may be on another node by now: they are asked as well as the one that had it, after so many tries there; so many of them at once. */
const triesAtHome = 3
const maxAsked = 4
/** Refusals that may be over in a moment, while a node starts again. */
const passing: ReadonlySet<string> = new Set(['noRoom', 'taken', 'roomFull', 'busy', 'tooMany'])

/** After these one may come back as before; after any other end one is new. */
const keepsPass: ReadonlySet<string> = new Set(['lost', 'unreachable', 'outdated', 'replaced'])
/** A room that moves meanwhile is followed so many times in a row. */
const maxMoves = 3

/** The room signalling: joins, mends a broken connection by `resume`, and joins anew where that is too late. */
export class SignalClient {
  /** URL of the node that the page came from. */
  readonly #home: string
  /** URL of the node that has the room, as far as it is known. */
  #origin: string
  /** URL of the node that is asked now. */
  #asked: string
  /** URLs of the site's other nodes. */
  #others: readonly string[] = []
  #restarting = false
  readonly #request: JoinRequest
  readonly #listener: SignalListener
  readonly #ticket: () => string
  #socket: WebSocket | undefined
  /** Gives up what is on its way to a connection. */
  #giveUp: () => void = () => {}
  #session = ''
  #userId: string | undefined
  #entered = false
  /** A host has to let this person in. */
  #waits = false
  #over = false
  /** When the connection was lost; 0 while it stands. */
  #lostAt = 0
  #tries = 0
  /** Since the last time that it was in. */
  #moves = 0
  #heardAt = 0
  #pingId = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  readonly #watch: ReturnType<typeof setInterval>
  readonly #finished = new AbortController()

  /**
   * @param origin of the node, e.g. `http://10.0.0.5:7082`
   * @param ticket of something that is sent or watched now; empty for none
   */
  constructor(origin: string, request: JoinRequest, listener: SignalListener, ticket: () => string) {
    this.#home = origin
    this.#origin = origin
    this.#asked = origin
    this.#request = request
    this.#listener = listener
    this.#ticket = ticket
    this.#watch = setInterval(() => this.#listen(), pingEveryMs)
    const { signal } = this.#finished
    window.addEventListener('online', () => this.#comeBack(), { signal })
    window.addEventListener('offline', () => this.#drop(), { signal })
    silenceWatch.onAlarm(() => this.#doubt(), signal)
    this.#connect()
  }

  /** Sends, where the connection stands. Returns false when it does not: what is said is lost. */
  send(message: FromPerson): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN || this.#lostAt > 0) return false
    this.#socket.send(JSON.stringify(message))
    return true
  }

  /** Goes, for good. @param back a moment later, with the page that is loaded again */
  leave(back = false): void {
    if (this.#over) return
    if (!back) keepPass(this.#request.roomId, '')
    this.send({ type: 'leave' })
    this.#finish()
  }

  #connect(): void {
    clearTimeout(this.#retry)
    this.#giveUp()
    this.#giveUp = reach(this.#called(), {
      opened: (origin, socket) => this.#opened(origin, socket),
      failed: () => this.#broken(),
    })
  }

  #opened(origin: string, socket: WebSocket): void {
    this.#asked = origin
    this.#socket = socket
    this.#heardAt = Date.now()
    const timer = setTimeout(() => socket.close(), joinMs)
    socket.send(JSON.stringify(this.#greeting()))
    socket.addEventListener('message', ({ data }) => {
      if (socket !== this.#socket || this.#over) return
      this.#heardAt = Date.now()
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

  /** URLs to ask: the node of the room, and when it is not there the others as well, each time another one first of these; in turn they come before it. */
  #called(): Called {
    const known = this.#others.filter((origin) => origin !== this.#origin)
    const start = known.length === 0 ? 0 : this.#tries % known.length
    const others = [...known.slice(start), ...known.slice(0, start)].slice(0, maxAsked)
    // A connection that ends, or that the room leaves, says so; one that breaks may be back in a moment.
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
        return this.#listener.waiting(message.topic)
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
    this.#others = [...new Set([this.#home, ...otherNodes])]
  }

  /** The node has answered: it is the one to talk to. */
  #stands(): void {
    this.#lostAt = 0
    this.#tries = 0
    this.#moves = 0
    this.#restarting = false
    if (this.#asked !== this.#origin) this.#listener.moved(this.#asked)
    this.#origin = this.#asked
  }

  #refused({ reason, message, url }: Extract<ToPerson, { type: 'refused' }>): void {
    // Another one says that it is where it was: it will be back.
    if (reason === 'elsewhere' && url === this.#origin && this.#lostAt > 0) return
    if (reason === 'elsewhere' && url !== undefined && this.#moves < maxMoves) return this.#follow(url)
    const aside = this.#asked !== this.#origin
    const resuming = this.#session !== '' && !aside
    const again = (this.#entered || this.#waits) && (resuming || passing.has(reason))
    if (!again) {
      const outdated = reason === 'badRequest' && message.includes('version')
      return this.#end(outdated ? { reason: 'outdated', message } : endingOf(reason, message))
    }
    // Too late to resume: join anew. The name of a guest may still be held by the one that was lost.
    if (resuming) {
      this.#tries = 0
      this.#session = ''
    }
    if (reason === 'taken') this.#userId = undefined
  }

  /** Asks the node that has the room. */
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

  /** The node ends, or the room leaves it: it is there again in a moment, here or on another one. */
  #comesBack(mediaOver: boolean): void {
    this.#restarting = true
    this.#session = ''
    const socket = this.#socket
    this.#broken(mediaOver)
    socket?.close()
  }

  #broken(mediaOver = false): void {
    this.#socket = undefined
    if (!this.#entered && !this.#waits) return this.#end({ reason: 'unreachable', message: '' })
    if (this.#lostAt === 0) {
      this.#lostAt = Date.now()
      this.#listener.lost(this.#restarting, mediaOver)
    }
    if (Date.now() - this.#lostAt > (this.#restarting ? giveUpRestartMs : giveUpMs))
      return this.#end({ reason: 'lost', message: '' })
    const wait = waitsMs[Math.min(this.#tries, waitsMs.length - 1)] ?? 0
    this.#tries += 1
    this.#retry = setTimeout(() => this.#connect(), wait)
  }

  /** A connection can be dead without a word: a question now and then shows it. */
  #listen(): void {
    if (this.#socket === undefined || this.#lostAt > 0) return
    if (Date.now() - this.#heardAt > silenceMs) this.#drop()
    else this.send({ type: 'ping', id: ++this.#pingId })
  }

  /** The way to the node may be lost: a question shows whether it is. */
  #doubt(): void {
    const socket = this.#socket
    const askedAt = Date.now()
    this.send({ type: 'ping', id: ++this.#pingId })
    setTimeout(() => {
      if (socket === this.#socket && this.#heardAt < askedAt) this.#drop()
    }, doubtMs)
  }

  #comeBack(): void {
    if (this.#lostAt > 0 && this.#socket === undefined) this.#connect()
  }

  /** A socket whose network is gone would take its time to close by itself. */
  #drop(): void {
    const socket = this.#socket
    if (socket === undefined || this.#lostAt > 0) return
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
    clearTimeout(this.#retry)
    clearInterval(this.#watch)
    this.#finished.abort()
    this.#giveUp()
    this.#socket?.close()
    this.#socket = undefined
  }
}

/** The node and this page come out of one build; what is not even a message is dropped. */
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
