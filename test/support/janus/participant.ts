import { sole } from '../sole-leadership.ts'
import { JanusError } from '../../../server/nodes/janus/wire/janus-error.ts'
import type { JanusHandle } from '../../../server/nodes/janus/wire/janus-handle.ts'
import { JanusSession } from '../../../server/nodes/janus/wire/janus-session.ts'
import { JanusSocket } from '../../../server/nodes/janus/wire/janus-socket.ts'

const quiet = (): void => undefined
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }

/** Credentials of a participant. */
export interface Tickets {
  /** Core token; empty: none. */
  token: string
  /** Empty: none. */
  roomToken: string
}

/** A participant with a client of Janus's own API, without the secrets of the node. */
export class Participant implements AsyncDisposable {
  readonly #socket: JanusSocket
  readonly session: JanusSession
  /** Events of `videoroom` that the node sent to it. */
  readonly heard: Record<string, unknown>[] = []
  /** Handle that joined the room. */
  handle: JanusHandle
  /** Private id, which subscriptions need. */
  privateId = 0

  private constructor(socket: JanusSocket, session: JanusSession, handle: JanusHandle) {
    this.#socket = socket
    this.session = session
    this.handle = handle
    this.#listen()
  }

  /** Connects and attaches to the videoroom plugin. @throws JanusError */
  static async connect(wsUrl: string, token = ''): Promise<Participant> {
    const signal = AbortSignal.timeout(10_000)
    const socket = await connected(wsUrl, token, signal)
    const session = await JanusSession.create(socket, signal)
    return new Participant(socket, session, await session.attach('janus.plugin.videoroom', signal))
  }

  /** Joins a room as a publisher. @throws JanusError */
  async join(roomId: string, userId: string, roomToken = ''): Promise<void> {
    const { data } = await this.ask({
      request: 'join',
      ptype: 'publisher',
      room: roomId,
      id: userId,
      display: userId.toUpperCase(),
      ...(roomToken === '' ? {} : { token: roomToken }),
    })
    this.privateId = Number(data.private_id)
  }

  /** Joins and leaves; resolves to the error code if the join is refused. */
  async tryToJoin(roomId: string, userId: string, roomToken = ''): Promise<'in' | number> {
    try {
      await this.join(roomId, userId, roomToken)
    } catch (error) {
      if (error instanceof JanusError) return error.code
      throw error
    }
    await this.ask({ request: 'leave' })
    await this.attachAgain()
    return 'in'
  }

  /** Sends a request to the videoroom plugin. @throws JanusError */
  async ask(body: Readonly<Record<string, unknown>>) {
    return await this.handle.request(body, AbortSignal.timeout(10_000))
  }

  /** Attaches a new handle, as a returning client does. */
  async attachAgain(): Promise<void> {
    this.handle = await this.session.attach('janus.plugin.videoroom', AbortSignal.timeout(10_000))
    this.#listen()
  }

  /** Drops the connection without a word: the session is left behind. */
  cutOff(): void {
    this.#socket.close()
  }

  /** Claims the session by another connection. @throws JanusError */
  async claimed(wsUrl: string, token: string): Promise<Participant> {
    const signal = AbortSignal.timeout(10_000)
    const socket = await connected(wsUrl, token, signal)
    const known = { id: this.handle.id, plugin: 'janus.plugin.videoroom' as const }
    const session = await JanusSession.claim(socket, this.session.id, [known], signal)
    return new Participant(socket, session, session.adopt(known.id, known.plugin))
  }

  /** Drops the connection. */
  async leave(): Promise<void> {
    if (this.#socket.isOpen) await this.session.destroy(AbortSignal.timeout(10_000))
    this.#socket.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave()
  }

  #listen(): void {
    this.handle.onEvent((event) => {
      if (event.type === 'plugin') this.heard.push(event.data)
    })
  }
}

/** A connection that shows a token with each request, where there is one. */
async function connected(url: string, token: string, signal: AbortSignal): Promise<JanusSocket> {
  const socket = await JanusSocket.open({ url, apiSecret: '', leadership: sole, logger }, signal)
  if (token === '') return socket
  const request = socket.request.bind(socket)
  socket.request = (asked, ...others) => request({ ...asked, token }, ...others)
  return socket
}
