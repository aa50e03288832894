import type { NodeUser } from '../../port/media-node-port.ts'
import type { Departure } from '../../port/pool-events.ts'

/** A user in a room, with the node that they are on. */
export interface PresentSession {
  readonly node: string
  readonly user: NodeUser
}

/** Numbers of users of a room on one of its nodes. */
interface RoomLoad {
  users: number
  people: number
}

interface RoomPresence {
  people: number
  /** Number of people with a raised hand. */
  hands: number
  /** Sessions by userId, in the order they joined. */
  sessions: Map<string, PresentSession>
  /** Nodes of the room with at least one user in it. */
  nodes: Map<string, RoomLoad>
}

interface NodePresence {
  people: number
  devices: number
  /** Rooms with at least one user on the node. */
  rooms: Set<string>
}

export interface PresenceTotals {
  people: number
  devices: number
}

const nobody: readonly NodeUser[] = []

/**
 * Users in rooms on nodes, as reported by the nodes. A room may have users on several nodes, and each user is on one
 * node. Every change and every count is O(1); only rooms with users are stored.
 */
export class Presence {
  readonly #rooms = new Map<string, RoomPresence>()
  readonly #nodes = new Map<string, NodePresence>()
  readonly #meetings = new Set<string>()
  /** Rooms with people in them, in the order in which the meetings began. */
  readonly meetings: ReadonlySet<string> = this.#meetings
  #people = 0
  #devices = 0

  /** Returns the number of people and devices in rooms, over all nodes. */
  totals(): PresenceTotals {
    return { people: this.#people, devices: this.#devices }
  }

  /** Number of rooms with at least one user. */
  get occupiedRooms(): number {
    return this.#rooms.size
  }

  /** Returns the users of a room in the order they joined. */
  usersOf(roomId: string): readonly NodeUser[] {
    const room = this.#rooms.get(roomId)
    if (room === undefined) return nobody
    const users = Array.from(room.sessions.values(), ({ user }) => user)
    // The sessions of each node are in order, but not the sessions of several nodes.
    return room.nodes.size === 1 ? users : users.sort((one, other) => one.joinedAt - other.joinedAt)
  }

  /** Returns the users of a room on one of its nodes. */
  usersAt(roomId: string, node: string): NodeUser[] {
    const sessions = this.#rooms.get(roomId)?.sessions.values() ?? []
    return [...sessions].flatMap((session) => (session.node === node ? [session.user] : []))
  }

  user(roomId: string, userId: string): NodeUser | undefined {
    return this.sessionOf(roomId, userId)?.user
  }

  /** Returns the user with the node that they are on. */
  sessionOf(roomId: string, userId: string): PresentSession | undefined {
    return this.#rooms.get(roomId)?.sessions.get(userId)
  }

  /** Returns whether a person or device is in the room. */
  occupied(roomId: string): boolean {
    return this.#rooms.has(roomId)
  }

  /** Returns the number of users of the room, devices included. */
  count(roomId: string): number {
    return this.#rooms.get(roomId)?.sessions.size ?? 0
  }

  /** Returns the number of users of the room on that node, devices included. */
  countAt(roomId: string, node: string): number {
    return this.#rooms.get(roomId)?.nodes.get(node)?.users ?? 0
  }

  /** Returns the number of users of the room on nodes other than `node`, excluding `userId`. O(1). */
  countOnOtherNodes(roomId: string, node: string, userId: string): number {
    const at = this.sessionOf(roomId, userId)?.node
    return this.count(roomId) - this.countAt(roomId, node) - (at === undefined || at === node ? 0 : 1)
  }

  /** Returns the number of people in the room, without devices. */
  peopleIn(roomId: string): number {
    return this.#rooms.get(roomId)?.people ?? 0
  }

  /** Returns the number of people in the room with a raised hand. */
  handsIn(roomId: string): number {
    return this.#rooms.get(roomId)?.hands ?? 0
  }

  peopleAt(roomId: string, node: string): number {
    return this.#rooms.get(roomId)?.nodes.get(node)?.people ?? 0
  }

  /** Returns the number of people and devices on a node. */
  usersOn(node: string): number {
    const load = this.#nodes.get(node)
    return load === undefined ? 0 : load.people + load.devices
  }

  devicesOn(node: string): number {
    return this.#nodes.get(node)?.devices ?? 0
  }

  peopleOn(node: string): number {
    return this.#nodes.get(node)?.people ?? 0
  }

  /** Returns the rooms with users on the node, as a copy. */
  roomsOn(node: string): string[] {
    return [...(this.#nodes.get(node)?.rooms ?? [])]
  }

  /** Adds a user to a room. A user with the same userId must have left before. */
  join(node: string, roomId: string, user: NodeUser): void {
    const room: RoomPresence = this.#rooms.get(roomId) ?? { people: 0, hands: 0, sessions: new Map(), nodes: new Map() }
    this.#rooms.set(roomId, room)
    const load = this.#load(node)
    const here: RoomLoad = room.nodes.get(node) ?? { users: 0, people: 0 }
    room.nodes.set(node, here)
    load.rooms.add(roomId)
    room.sessions.set(user.userId, { node, user })
    room.hands += handsOf(user)
    here.users += 1
    if (user.device) {
      load.devices += 1
      this.#devices += 1
      return
    }
    here.people += 1
    room.people += 1
    this.#meetings.add(roomId)
    load.people += 1
    this.#people += 1
  }

  /** Changes the data of a user in the room. Returns false if the participant session is unknown. */
  change(node: string, roomId: string, user: NodeUser): boolean {
    const room = this.#rooms.get(roomId)
    const before = room?.sessions.get(user.userId)
    if (room === undefined || before?.node !== node) return false
    if (before.user.joinedAt !== user.joinedAt || before.user.device !== user.device) return false
    room.sessions.set(user.userId, { node, user })
    room.hands += handsOf(user) - handsOf(before.user)
    return true
  }

  /** Removes a user from a room. Returns the removed user; undefined if no such user was there. */
  leave(roomId: string, userId: string): NodeUser | undefined {
    const room = this.#rooms.get(roomId)
    const session = room?.sessions.get(userId)
    if (room === undefined || session === undefined) return undefined
    const { node, user } = session
    const load = this.#load(node)
    const here: RoomLoad = room.nodes.get(node) ?? { users: 0, people: 0 }
    room.sessions.delete(userId)
    room.hands -= handsOf(user)
    here.users -= 1
    if (user.device) {
      load.devices -= 1
      this.#devices -= 1
    } else {
      here.people -= 1
      room.people -= 1
      if (room.people === 0) this.#meetings.delete(roomId)
      load.people -= 1
      this.#people -= 1
    }
    if (here.users > 0) return user
    room.nodes.delete(node)
    load.rooms.delete(roomId)
    if (room.nodes.size === 0) this.#rooms.delete(roomId)
    if (load.rooms.size === 0) this.#nodes.delete(node)
    return user
  }

  /** Removes and returns the users of the room on the node that `whom` selects; default: all of them. */
  clear(roomId: string, node: string, whom: (user: NodeUser) => boolean = () => true): Departure[] {
    if (this.countAt(roomId, node) === 0) return []
    const departures: Departure[] = []
    for (const user of this.usersAt(roomId, node)) {
      if (!whom(user)) continue
      this.leave(roomId, user.userId)
      departures.push({ roomId, user })
    }
    return departures
  }

  #load(node: string): NodePresence {
    let load = this.#nodes.get(node)
    if (load === undefined) {
      load = { people: 0, devices: 0, rooms: new Set() }
      this.#nodes.set(node, load)
    }
    return load
  }
}

/** Presence without the operations that change it. */
export type PresenceView = Omit<Presence, 'join' | 'change' | 'leave' | 'clear'>

function handsOf({ hand = 0 }: NodeUser): number {
  return hand > 0 ? 1 : 0
}
