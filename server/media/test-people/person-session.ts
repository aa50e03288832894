import type { WebSocket } from 'ws'
import { type FromPerson, signalVersion, type ToPerson, toPersonSchema } from '../../../shared/media/signal.ts'
import { type NodeTrust, openSignal } from './node-requests.ts'

/** Proof with which a person enters a room. */
export interface PersonEntry {
  /** Base URL of the node. */
  node: URL
  roomId: string
  /** Token of a join link. */
  token: string
  trust: NodeTrust
}

/** Receives the messages of a node, and the end of the connection. */
interface SessionListener {
  message(message: ToPerson): void
  /** Called once. */
  closed(): void
}

/** Signalling of one person: what the room page speaks (`shared/media/signal.ts`). */
export class PersonSession {
  readonly #socket: WebSocket

  constructor({ node, roomId, token, trust }: PersonEntry, listener: SessionListener) {
    this.#socket = openSignal(node, trust)
    this.#socket.on('error', () => {
      // The event `close` follows.
    })
    this.#socket.once('close', () => listener.closed())
    this.#socket.once('open', () =>
      this.send({
        ...{ type: 'join', version: signalVersion, room_id: roomId, token },
        ...{ host_password: '', user_name: '' },
      }),
    )
    this.#socket.on('message', (data: Buffer) => {
      const message = read(data)
      if (message !== undefined) listener.message(message)
    })
  }

  send(message: FromPerson): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  /** Leaves the room, or gives up joining. */
  leave(): void {
    this.send({ type: 'leave' })
    this.#socket.close()
  }
}

/** Returns a message of a known kind; undefined: the node speaks a later version. */
function read(data: Buffer): ToPerson | undefined {
  try {
    const parsed = toPersonSchema.safeParse(JSON.parse(data.toString('utf8')))
    return parsed.success ? parsed.data : undefined
  } catch {
    // No JSON.
    return undefined
  }
}
