import type { PoolEvent, PoolEventSource } from '../../nodes/port/pool-events.ts'
import { withoutSecretText } from '../../observe/redaction/log-fields.ts'
import type { EventFields } from '../../../shared/domain/events.ts'
import type { NodeState } from '../../../shared/node.ts'
import type { Store } from '../../store/store.ts'
import type { EventSink } from '../event-log.ts'
import { type PeopleNames, roomName, subjectOf } from '../site-state.ts'

/**
 * Logs events of the nodes: nodes that appear and disappear, people who join and leave, rooms that move. Returns the
 * unsubscribe function.
 */
export function watchPool(
  events: PoolEventSource,
  store: Pick<Store, 'get' | 'all' | 'unseal'>,
  sink: EventSink,
  names: PeopleNames,
): () => void {
  const watch = new PoolWatch(store, sink, names)
  return events.subscribe((event) => watch.take(event))
}

class PoolWatch {
  readonly #store: Pick<Store, 'get' | 'all' | 'unseal'>
  readonly #sink: EventSink
  readonly #names: PeopleNames
  /** Last state of each node, and the time of the change, in milliseconds since the epoch. */
  readonly #nodes = new Map<string, { state: NodeState; at: number }>()
  /** Time at which each user joined their room: a new session of the same participant is not a new stay. */
  readonly #stays = new Map<string, number>()

  /** Last reported shortcomings of each device and person, by room. */
  readonly #short = new Map<string, string>()

  constructor(store: Pick<Store, 'get' | 'all' | 'unseal'>, sink: EventSink, names: PeopleNames) {
    this.#store = store
    this.#sink = sink
    this.#names = names
  }

  take(event: PoolEvent): void {
    switch (event.type) {
      case 'nodeState':
        return this.#node(event.name, event.state, event.error)
      case 'nodeRemoved':
        this.#nodes.delete(event.name)
        return this.#sink.append({ kind: 'node.removed', subject: this.#nodeOf(event.name) })
      case 'joined':
      case 'left':
        return this.#person(event)
      case 'roomMoved': {
        const subject = subjectOf(this.#store, 'room', event.roomId)
        return this.#sink.append({ kind: 'room.moved', subject, params: { from: event.from, to: event.name } })
      }
      case 'streamShort':
        return this.#incomplete(event)
      case 'drifted': {
        const { name, kind, subjects } = event
        const example = subjects.find((subject) => subject !== '') ?? ''
        const params = { found: kind, count: subjects.length, example }
        return this.#sink.append({ kind: 'node.drifted', level: 'warning', subject: this.#nodeOf(name), params })
      }
      case 'online':
      case 'nodeDescribed':
      case 'roomNodes':
      case 'deviceLost':
        // The state of the node is logged already; devices are logged separately, with their reasons.
        return
    }
  }

  #node(name: string, state: NodeState, error: string): void {
    const before = this.#nodes.get(name)
    if (state !== 'online' && state !== 'offline') return
    if (before?.state === state) return
    const at = Date.now()
    this.#nodes.set(name, { state, at })
    const subject = this.#nodeOf(name)
    if (state === 'online') {
      const away: EventFields = before === undefined ? {} : { away_ms: at - before.at }
      this.#sink.append({ kind: 'node.online', subject, params: away })
    } else {
      this.#sink.append({ kind: 'node.offline', level: 'error', subject, params: { error: withoutSecretText(error) } })
    }
  }

  #incomplete({ roomId, user, shortcomings }: Extract<PoolEvent, { type: 'streamShort' }>): void {
    const { userId, userName, device } = user
    const key = JSON.stringify([roomId, userId])
    const said = JSON.stringify(shortcomings)
    // A camera that joins repeatedly has the same shortcomings each time.
    if (this.#short.get(key) === said) return
    this.#short.set(key, said)
    const subject = device
      ? subjectOf(this.#store, 'device', userId)
      : ({ type: 'person', id: userId, name: userName } as const)
    const room: EventFields = device ? {} : { room: roomName(this.#store, roomId) }
    for (const { kind, way, reason, detail, recorded } of shortcomings) {
      const params = { kind, way, reason, detail: withoutSecretText(detail), recorded, ...room }
      const event = device ? 'device.short' : 'person.short'
      this.#sink.append({ kind: event, level: 'warning', subject, room: roomId, params })
    }
  }

  #person({ type, name, roomId, user }: Extract<PoolEvent, { type: 'joined' | 'left' }>): void {
    if (user.device) return
    const key = JSON.stringify([roomId, user.userId])
    if (type === 'joined') {
      this.#names.note(roomId, user.userId, user.userName)
      if (this.#stays.get(key) === user.joinedAt) return
      this.#stays.set(key, user.joinedAt)
    } else {
      this.#stays.delete(key)
      this.#short.delete(key)
    }
    const stayed: EventFields = type === 'left' ? { stayed_ms: Math.max(0, Date.now() - user.joinedAt) } : {}
    const subject = { type: 'person', id: user.userId, name: user.userName } as const
    const kind = type === 'joined' ? 'person.joined' : 'person.left'
    this.#sink.append({
      kind,
      subject,
      room: roomId,
      params: { room: roomName(this.#store, roomId), node: name, ...stayed },
    })
  }

  #nodeOf(name: string) {
    return subjectOf(this.#store, 'node', name)
  }
}
