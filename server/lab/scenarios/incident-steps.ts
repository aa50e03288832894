import type { ActivityEntry } from '../../../shared/console/activity.ts'
import { deviceErrorKinds, type DeviceErrorKind, deviceErrorMessages } from '../../../shared/device.ts'
import type { EventEntry } from '../../../shared/domain/events.ts'
import type { Licence } from '../../../shared/licence.ts'
import { operationsByName } from '../../../shared/operations.ts'
import { retOf, sentenceOf } from '../../../shared/result-codes.ts'
import type { Worded } from './step-schema.ts'

/** What happened on a site in a stretch of time, and what is in its rooms at the end. */
export interface IncidentRecord {
  /** Stretch, in milliseconds since the epoch. */
  from: number
  to: number
  /** Version of the product. */
  product: string
  /** Events and calls of clients in the stretch, oldest first. */
  events: readonly EventEntry[]
  calls: readonly ActivityEntry[]
  nodes: readonly string[]
  licence: Licence
  rooms: ReadonlyMap<string, IncidentRoom>
  cameras: readonly IncidentCamera[]
  people: readonly IncidentPerson[]
}

/** Parameters of a room, as `create_room` takes them. */
interface IncidentRoom {
  topic: string
  room_mode: number
  attendee_max: number
  room_extend_id: string
}

/** Camera in a room. `address` contains no login. */
interface IncidentCamera {
  room: string
  id: string
  name: string
  address: string
  state: string
}

interface IncidentPerson {
  room: string
  id: string
  name: string
}

/** A step without its time, as written in a file. */
type Fields = Record<string, unknown>
export interface TimedStep {
  /** Milliseconds since the start of the stretch. */
  at: number
  fields: Fields
  /** Whether the step is a successful call without effect; a long scenario leaves such steps out. */
  readsOnly: boolean
}

const unknownAddress = 'rtsp://192.0.2.1/camera'
/** Effects of calls that steps for events repeat. */
const fromEvents: ReadonlySet<string> = new Set(['room.created', 'room.deleted', 'device.added', 'device.deleted'])
/** Acts of operators with the same effect. */
const ofOperators: Readonly<Record<string, EventEntry['kind']>> = {
  'rooms.create': 'room.created',
  'rooms.delete': 'room.deleted',
  'rooms.restore': 'room.created',
  'rooms.lock': 'room.locked',
  'rooms.unlock': 'room.unlocked',
  'devices.create': 'device.added',
  'devices.restore': 'device.added',
  'devices.remove': 'device.deleted',
  'lab.camera_to_room': 'device.added',
}
/** Reasons why a camera cannot join that the steps of its room repeat. */
const ofTheRoom: ReadonlySet<DeviceErrorKind> = new Set(['roomFull', 'roomLocked'])
/** Events with which something ends that a call in the same millisecond may have needed. */
const endings: ReadonlySet<EventEntry['kind']> = new Set<EventEntry['kind']>([
  'person.left',
  'device.lost',
  'device.deleted',
  'room.deleted',
  'room.locked',
  'node.offline',
])
/** Effects of calls that a simulated node cannot have, because it carries no media. */
const needsMedia = /^(recording|live|link)\./

export function worded(en: string, zh: string, de: string): Worded {
  return { en: clipped(en), zh: clipped(zh), de: clipped(de) }
}

/** Maximum length of a sentence in a scenario. */
const clipped = (text: string): string => text.slice(0, 1_000)

/** A name as literal text: `${name}` would stand for a value of the scenario. */
const literal = (text: string): string => text.replaceAll('${', '$ {')

/** Makes the steps of an incident. */
export class IncidentSteps {
  readonly clients: string[] = []
  readonly nodes: string[]
  leftOut = 0
  readonly #record: IncidentRecord
  readonly #setUp: TimedStep[] = []
  readonly #steps: TimedStep[] = []
  /** Names of the values with the ids of rooms; a name is never used again. */
  readonly #rooms = new Map<string, string>()
  #roomNumber = 0
  /** Addresses of the cameras in rooms, and ids of people by room and id. */
  readonly #cameras = new Map<string, string>()
  readonly #people = new Set<string>()
  readonly #offline = new Set<string>()
  /** Trouble of cameras, by address. */
  readonly #trouble = new Map<string, DeviceErrorKind | 'silent'>()
  #expired = false
  /** Successful calls of create_room that no event was found for yet. */
  readonly #creations: ActivityEntry[]
  /** Names of the clients in the scenario, by access_key. */
  readonly #clientsByKey = new Map<string, string>()

  constructor({ events, ...more }: IncidentRecord) {
    const record = { ...more, events: events.map(withEffect) }
    this.#record = record
    this.#creations = record.calls.filter(({ operation, ret }) => operation === 'create_room' && ret === 0)
    this.nodes = record.nodes.length === 0 ? ['Lab 1'] : record.nodes.map(literal)
    this.#client('')
    this.#prepare()
    const calls = record.calls.toSorted((one, other) => one.at - other.at)
    let next = 0
    for (const event of record.events.toSorted((one, other) => one.at - other.at)) {
      for (let call = calls[next]; call !== undefined && isBefore(call, event); call = calls[++next]) this.#call(call)
      this.#event(event)
    }
    for (const call of calls.slice(next)) this.#call(call)
  }

  get all(): readonly TimedStep[] {
    return [...this.#setUp, ...this.#steps]
  }

  /** Events of the site, with the clients' names in the scenario instead of access_keys. */
  get shownEvents(): EventEntry[] {
    const keys = new Map(this.#clientsByKey)
    keys.delete('')
    for (const { subject } of this.#record.events)
      if (subject.type === 'credential' && !keys.has(subject.id)) keys.set(subject.id, 'another client')
    const named = (_field: string, value: unknown): unknown =>
      typeof value === 'string' ? (keys.get(value) ?? value) : value
    // Access keys stand in actors, in subjects and in changed values.
    return JSON.parse(JSON.stringify(this.#record.events, named)) as EventEntry[]
  }

  /** Makes what was there before the stretch. */
  #prepare(): void {
    const { events, cameras, people } = this.#record
    const made = new Set(events.filter(({ kind }) => kind === 'room.created').map(({ subject }) => subject.id))
    const before = new Set(events.map(({ room, subject }) => (subject.type === 'room' ? subject.id : room)))
    for (const { room } of [...cameras, ...people, ...this.#record.calls]) before.add(room)
    for (const room of before) {
      const isKnown = this.#record.rooms.has(room) || events.some((event) => isAbout(event, room))
      if (room !== '' && isKnown && !made.has(room)) this.#room(this.#setUp, this.#record.from, room)
    }
    const first = firstOf(events)
    for (const event of first) {
      const { kind, room, subject } = event
      const wasThere = kind === 'person.left' || kind === 'device.deleted' || kind === 'device.lost'
      if (!wasThere || made.has(room)) continue
      if (kind === 'person.left') this.#join(this.#setUp, this.#record.from, { room, ...subject })
      else this.#camera(this.#setUp, this.#record.from, { room, ...subject })
    }
    const changed = new Set(first.map(placeOf))
    for (const camera of cameras)
      if (!changed.has(placeOf({ room: camera.room, subject: { type: 'device', id: camera.id } })))
        this.#camera(this.#setUp, this.#record.from, camera)
    for (const person of people)
      if (!changed.has(placeOf({ room: person.room, subject: { type: 'person', id: person.id } })))
        this.#join(this.#setUp, this.#record.from, person)
  }

  #event({ at, kind, room, subject, params, actor }: EventEntry): void {
    const about = { room, ...subject }
    const client = actor.type === 'client' ? actor.name : ''
    switch (kind) {
      case 'room.created':
        return this.#room(this.#steps, at, subject.id, client)
      case 'room.deleted':
        return this.#deleteRoom(at, subject.id, client)
      case 'device.added':
        return this.#camera(this.#steps, at, about, client)
      case 'device.deleted':
        return this.#removeCamera(at, about, client)
      case 'device.lost':
        return this.#loseCamera(at, subject.id, String(params.reason))
      case 'person.joined':
        return this.#join(this.#steps, at, about)
      case 'person.left':
        return this.#leave(at, about)
      case 'room.locked':
      case 'room.unlocked':
        return this.#lock(at, subject.id, kind === 'room.locked')
      case 'node.offline':
      case 'node.online':
        return this.#node(at, subject.name || subject.id, kind === 'node.offline')
      default:
    }
  }

  /** Adds a step for a call whose effect no event repeats. */
  #call(call: ActivityEntry): void {
    const { at, operation: name, ret, params, credential, msg } = call
    const operation = operationsByName.get(name)
    const effect = typeof operation?.effect === 'object' ? operation.effect.event : undefined
    const isRepeated = ret === 0 && (name === 'authenticate' || (effect !== undefined && fromEvents.has(effect)))
    if (isRepeated) return
    if (operation === undefined || (ret === 0 && effect !== undefined && needsMedia.test(effect))) {
      this.leftOut += 1
      return
    }
    // The device API has one code for an expired licence and for a camera that fails.
    if (msg === sentenceOf('licenceExpired')) this.#expire(at)
    else if (name === 'create_outgoing_user') this.#fail(at, params.userAddress ?? '', ret, msg)
    // The step is the call, and not the event that the person left.
    if (name === 'force_offline' && ret === 0)
      this.#people.delete(placeIn({ room: call.room, id: params.user_id ?? '' }))
    const isRefusedToken = ret === retOf(operation.api, 'tokenIncorrect')
    const isRefusedKey = name === 'authenticate'
    this.#add(this.#steps, at, {
      say: worded(
        ret === 0 ? `A client calls ${name}.` : `${name} is refused with ${ret}.`,
        ret === 0 ? `客户端调用 ${name}。` : `${name} 被拒绝，返回 ${ret}。`,
        ret === 0 ? `Ein Client ruft ${name} auf.` : `${name} wird mit ${ret} abgelehnt.`,
      ),
      ...{ api: name, client: this.#client(credential), ret },
      params: isRefusedKey ? {} : this.#given(call),
      ...(isRefusedKey ? { secret_key: 'wrong' } : isRefusedToken ? { token: 'wrong' } : {}),
      readsOnly: ret === 0 && effect === undefined,
    })
  }

  /** Returns the parameters of a call that its operation declares. */
  #given({ operation, params, room }: ActivityEntry): Record<string, string> {
    const own = Object.keys(operationsByName.get(operation)?.params.shape ?? {})
    const given = Object.entries(params).flatMap(([name, shown]) => {
      const value = own.includes(name) ? this.#valueOf(name, shown, room) : undefined
      return value === undefined ? [] : [[name, value] as const]
    })
    return Object.fromEntries(given)
  }

  /** Returns the access_key of a client in the scenario. @param credential access_key on the site; empty: unknown */
  #client(credential: string): string {
    const known = this.#clientsByKey.get(credential)
    if (known !== undefined) return known
    // A caller whose credential is not known is the first client.
    const name = credential === '' ? 'incident_client_1' : `incident_client_${Math.max(1, this.#clientsByKey.size)}`
    this.#clientsByKey.set(credential, name)
    if (!this.clients.includes(name)) this.clients.push(name)
    return name
  }

  #room(to: TimedStep[], at: number, room: string, client = ''): void {
    const value = `room${++this.#roomNumber}`
    const { topic = this.#topicOf(room), ...more } = this.#record.rooms.get(room) ?? {}
    const title = literal(topic)
    const called = this.#createdBy(at, client)
    this.#rooms.set(room, value)
    this.#add(to, at, {
      say: worded(`The room “${title}” is created.`, `创建房间“${title}”。`, `Der Raum „${title}“ wird angelegt.`),
      ...{ api: 'create_room', client: this.#client(client), ret: 0, keep: { [value]: 'room_id' } },
      params: {
        ...{ owner_id: 'incident', room_mode: '1' },
        ...Object.fromEntries(Object.entries(more).flatMap(([name, value]) => (value ? [[name, String(value)]] : []))),
        ...(called === undefined ? {} : this.#given(called)),
        topic: title,
      },
    })
  }

  /** Returns the call that created a room at this time, once. */
  #createdBy(at: number, client: string): ActivityEntry | undefined {
    const index = this.#creations.findIndex((call) => call.credential === client && call.at <= at)
    return client === '' || index < 0 ? undefined : this.#creations.splice(index, 1)[0]
  }

  #topicOf(room: string): string {
    const { subject } =
      this.#record.events.find((event) => event.subject.type === 'room' && event.subject.id === room) ?? {}
    return subject === undefined || subject.name === '' ? `Room ${room}` : subject.name
  }

  #deleteRoom(at: number, room: string, client: string): void {
    if (!this.#rooms.has(room)) return
    const room_id = this.#idOf(room)
    this.#rooms.delete(room)
    for (const place of this.#people) if (place.startsWith(placeIn({ room, id: '' }))) this.#people.delete(place)
    for (const place of this.#cameras.keys())
      if (place.startsWith(placeIn({ room, id: '' }))) this.#cameras.delete(place)
    this.#add(this.#steps, at, {
      say: worded('The room is deleted.', '房间被删除。', 'Der Raum wird gelöscht.'),
      ...{ api: 'delete_room', client: this.#client(client), ret: 0, params: { room_id } },
    })
  }

  #lock(at: number, room: string, locked: boolean): void {
    if (!this.#rooms.has(room)) return
    this.#add(this.#steps, at, {
      say: locked
        ? worded('The room is locked.', '房间被锁定。', 'Der Raum wird gesperrt.')
        : worded('The room is unlocked.', '房间被解锁。', 'Der Raum wird entsperrt.'),
      ...{ call: locked ? 'rooms.lock' : 'rooms.unlock', input: { room_ids: [this.#idOf(room)] } },
    })
  }

  #camera(to: TimedStep[], at: number, { room, id, name }: IncidentPerson, client = ''): void {
    const place = placeIn({ room, id })
    if (this.#cameras.has(place) || !this.#rooms.has(room)) return
    const address = this.#addressOf(room, id)
    this.#cameras.set(place, address)
    if (this.#trouble.delete(address)) this.#setTrouble(at)
    this.#add(to, at, {
      say: worded(
        `The camera “${name || id}” joins.`,
        `摄像机“${name || id}”加入。`,
        `Die Kamera „${name || id}“ tritt bei.`,
      ),
      ...{ api: 'create_outgoing_user', client: this.#client(client), ret: 0 },
      params: { roomId: this.#idOf(room), userId: literal(id), userName: literal(name || id), userAddress: address },
    })
  }

  /** Returns the address with which a camera was added, without its login. */
  #addressOf(room: string, id: string): string {
    const now = this.#record.cameras.find((camera) => camera.room === room && camera.id === id)?.address
    const called = this.#record.calls.findLast(({ params }) => params.userId === id)?.params.userAddress
    return addressIn(now) ?? addressIn(called) ?? unknownAddress
  }

  #removeCamera(at: number, { room, id }: IncidentPerson, client: string): void {
    const userAddress = this.#cameras.get(placeIn({ room, id }))
    if (userAddress === undefined) return
    this.#cameras.delete(placeIn({ room, id }))
    this.#add(this.#steps, at, {
      say: worded('The camera is removed.', '摄像机被移除。', 'Die Kamera wird entfernt.'),
      ...{ api: 'destroy_outgoing_user', client: this.#client(client), ret: 0 },
      params: { roomId: this.#idOf(room), userId: literal(id), userAddress },
    })
  }

  #loseCamera(at: number, userId: string, reason: string): void {
    const kind = deviceErrorKinds.find((each) => each === reason) ?? 'closed'
    this.#add(this.#steps, at, {
      say: worded(
        `The camera “${userId}” is lost (${kind}).`,
        `摄像机“${userId}”断开（${kind}）。`,
        `Die Kamera „${userId}“ fällt aus (${kind}).`,
      ),
      ...{ call: 'lab.lose_device', input: { userId: literal(userId), kind } },
    })
  }

  /** Lets a camera fail, or answer again, before a call that adds it. @param ret code of that call */
  #fail(at: number, shown: string, ret: number, msg: string): void {
    const failed = ret === retOf('device', 'joinFailed')
    const silent = ret === retOf('device', 'joinTimeout')
    const address = addressIn(shown)
    if (address === undefined || !(failed || silent)) return
    const kind = deviceErrorKinds.find((each) => msg.startsWith(deviceErrorMessages[each])) ?? 'unreachable'
    if (ofTheRoom.has(kind)) return
    this.#trouble.set(address, silent ? 'silent' : kind)
    this.#setTrouble(at)
  }

  #setTrouble(at: number): void {
    const rules = [...this.#trouble].map(([match, kind]) => ({ match, kind }))
    for (const name of this.nodes)
      this.#add(this.#steps, at, {
        say: worded('Cameras fail.', '摄像机出现故障。', 'Kameras haben Störungen.'),
        ...{ call: 'lab.device_trouble', input: { name, rules } },
      })
  }

  #join(to: TimedStep[], at: number, { room, id, name }: IncidentPerson): void {
    const place = placeIn({ room, id })
    if (this.#people.has(place) || !this.#rooms.has(room)) return
    this.#people.add(place)
    const user_name = literal(name || id)
    this.#add(to, at, {
      say: worded(`“${user_name}” joins.`, `“${user_name}”加入。`, `„${user_name}“ tritt bei.`),
      ...{ call: 'lab.join', input: { room_id: this.#idOf(room), user_id: literal(id), user_name } },
    })
  }

  #leave(at: number, { room, id }: IncidentPerson): void {
    if (!this.#people.delete(placeIn({ room, id })) || !this.#rooms.has(room)) return
    this.#add(this.#steps, at, {
      say: worded('A person leaves.', '一个人离开。', 'Eine Person geht.'),
      ...{ call: 'lab.leave', input: { room_id: this.#idOf(room), user_id: literal(id) } },
    })
  }

  #node(at: number, given: string, offline: boolean): void {
    const name = literal(given)
    if (!this.nodes.includes(name) || this.#offline.has(name) === offline) return
    if (offline) this.#offline.add(name)
    else this.#offline.delete(name)
    this.#add(this.#steps, at, {
      say: offline
        ? worded(`The node ${name} goes offline.`, `节点 ${name} 离线。`, `Der Knoten ${name} geht offline.`)
        : worded(
            `The node ${name} is online again.`,
            `节点 ${name} 恢复在线。`,
            `Der Knoten ${name} ist wieder online.`,
          ),
      ...{ call: 'lab.node_trouble', input: { name, mode: offline ? 'offline' : 'none' } },
    })
  }

  /** Sets the expired licence once, before the first call that it refuses. */
  #expire(at: number): void {
    if (this.#expired) return
    this.#expired = true
    const expires_at = this.#record.licence.expires_at || new Date(at).toISOString()
    this.#add(this.#steps, at, {
      say: worded('The licence expires.', '许可证到期。', 'Die Lizenz läuft ab.'),
      ...{ call: 'licence.set', input: { expires_at } },
    })
  }

  #add(to: TimedStep[], at: number, { readsOnly = false, ...fields }: Fields): void {
    const since = Math.min(Math.max(0, at - this.#record.from), this.#record.to - this.#record.from)
    to.push({ at: since, fields, readsOnly: readsOnly === true })
  }

  /** Returns the placeholder of a room's id; the id itself, if the scenario does not make the room. */
  #idOf(room: string): string {
    const value = this.#rooms.get(room)
    return value === undefined ? literal(room) : `\${${value}}`
  }

  /** Returns a parameter for its text in the journal; undefined: it is left out. */
  #valueOf(name: string, shown: string, room: string): string | undefined {
    if (shown === room && room !== '' && name !== 'room_extend_id') return this.#idOf(room)
    const length = /^\[(\d+) characters?\]$/.exec(shown)?.[1]
    if (length !== undefined) return 'x'.repeat(Math.min(Number(length), 20_000))
    if (/^\[.*\]$/.test(shown)) return undefined
    return addressIn(shown) ?? literal(shown)
  }
}

/** Returns an RTSP address of the journal as one that can be called; undefined: none. */
function addressIn(shown: string | undefined): string | undefined {
  if (shown === undefined || !/^rtsps?:\/\//.test(shown)) return undefined
  // Hidden parts stay distinct by their length.
  return shown.replace('[redacted]@', '').replaceAll(/\[(\d+) characters?\]/g, 'hidden-$1')
}

/**
 * Whether a call came before an event. Within a millisecond, a call that succeeded came before what ended, and after
 * what began; a call that was refused came after both.
 */
function isBefore(call: ActivityEntry, { at, kind }: EventEntry): boolean {
  if (call.at !== at) return call.at < at
  return call.ret === 0 && endings.has(kind)
}

const placeIn = ({ room, id }: { room: string; id: string }): string => `${room}\n${id}`
const placeOf = ({ room, subject }: { room: string; subject: { type: string; id: string } }): string =>
  `${subject.type}\n${placeIn({ room, id: subject.id })}`

/** Returns an operator's act as the event of its effect. */
function withEffect(event: EventEntry): EventEntry {
  const effect = event.kind === 'site.changed' ? ofOperators[String(event.params.procedure)] : undefined
  return effect === undefined ? event : { ...event, kind: effect }
}

function isAbout({ room, subject }: EventEntry, id: string): boolean {
  return room === id || (subject.type === 'room' && subject.id === id)
}

/** Returns the first event of each camera and person in a room that says whether they were there before. */
function firstOf(events: readonly EventEntry[]): EventEntry[] {
  const found = new Map<string, EventEntry>()
  for (const event of events) {
    const tells = /^(person\.(joined|left)|device\.(added|deleted|lost))$/.test(event.kind)
    if (tells && !found.has(placeOf(event))) found.set(placeOf(event), event)
  }
  return [...found.values()]
}
