import { sleep } from '../../../shared/sleep.ts'
import type { WebSocket } from 'ws'
import { plainAddress } from '../../../shared/client-address.ts'
import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import { joiners } from '../../../shared/authorization/node-routes.ts'
import type { RoomStanding } from '../../../shared/authorization/room-standing.ts'
import { mayReceive, maySend, type MessageOf } from '../../../shared/authorization/signal-rights.ts'
import { type FromPerson, signalVersion, type ToPerson } from '../../../shared/media/signal.ts'
import type { MediaLog } from '../base/media-log.ts'
import { NotOpenYet, OnOtherNode, openingIn, Problem } from '../base/problem.ts'
import { type AdmissionCaller, type AdmissionControl, admittedAs } from '../rooms/admission.ts'
import type { MediaRooms, Place } from '../rooms/media-rooms.ts'
import type { RoomRequests } from '../rooms/room-requests.ts'
import type { Room } from '../rooms/room.ts'
import type { Identity, PersonLink, RoomMember } from '../rooms/member.ts'
import { endIn, isPeerToPeer } from '../rooms/room-config.ts'
import { restartIn } from '../rooms/restart-notice.ts'
import type { WaitingLink } from '../rooms/waiting-room.ts'
import { assertVersion, handleRequest, MessageLimit, parseMessage } from './person-messages.ts'

export interface SignalDependencies {
  rooms: MediaRooms
  admission: AdmissionControl
  requests: RoomRequests
  settings: () => MediaSettings
  log: MediaLog
}

/** Number of unsent bytes above which a connection is closed. */
const maxUnsent = 2 * 1024 * 1024
/**
 * Delay of the answer to a wrong host password, in milliseconds. The delay is the same whether this node or the
 * controller checks the password.
 */
const wrongPasswordMs = 100
type Phase =
  /** Before joining; `asking`: a request for the room to the controller is pending. */
  | { name: 'stranger'; asking: boolean }
  /** In the waiting room, until a host admits the user. */
  | { name: 'waiting'; room: Room; userId: string; link: WaitingLink }
  | { name: 'inRoom'; place: Place }
  | { name: 'over' }

/** One signalling connection, from its first message to its end. */
export class SignalConnection implements PersonLink {
  readonly #socket: WebSocket
  readonly #dependencies: SignalDependencies
  readonly #remote: string
  readonly #limit = new MessageLimit()
  #phase: Phase = { name: 'stranger', asking: false }
  /** Ticket of media that the user already sends or watches; empty: none. */
  #ticket = ''

  constructor(socket: WebSocket, remote: string, dependencies: SignalDependencies) {
    this.#socket = socket
    this.#remote = remote
    this.#dependencies = dependencies
    // ws delivers a message as one Buffer by default.
    socket.on('message', (data: Buffer) => this.#contained(() => this.#received(data.toString('utf8'))))
    socket.on('close', () => this.#contained(() => this.#closed()))
    // `ws` answers pings, and closes connections that do not read the answers, but does not limit the number of pings.
    socket.on('ping', () => this.#contained(() => this.#within(this.#limit.take())))
    socket.on('pong', () => this.#contained(() => this.#within(this.#limit.take())))
    socket.on('error', () => {})
  }

  /** Whether the user has joined, resumed, or waits for a host. */
  get entered(): boolean {
    return this.#phase.name === 'inRoom' || this.#phase.name === 'waiting'
  }

  send(message: ToPerson): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    const standing = this.#standing
    if (!mayReceive(standing, message.type))
      return this.#dependencies.log.error(
        'a message was not sent to a user without the right to it',
        `${message.type} to a ${standing}`,
      )
    if (this.#socket.bufferedAmount > maxUnsent) return this.#socket.terminate()
    this.#socket.send(JSON.stringify(message))
  }

  /** Sends the addresses of other nodes, for the case that this node is lost. */
  notifyNodes(): void {
    if (this.entered) this.send({ type: 'nodes', other_nodes: this.#dependencies.settings().other_nodes })
  }

  close(): void {
    this.#phase = { name: 'over' }
    this.#socket.close(1000)
  }

  /** Runs a handler. An unexpected error ends only this connection. */
  #contained(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Closes the connection and returns false if too many messages were received. */
  #within(isAllowed: boolean): boolean {
    if (!isAllowed) this.#socket.terminate()
    return isAllowed
  }

  #received(text: string): void {
    // A connection that is being closed ignores further messages.
    if (!this.#within(this.#limit.take()) || this.#socket.readyState !== this.#socket.OPEN) return
    try {
      const message = parseMessage(text)
      if (!this.#within(this.#limit.takeCostOf(message))) return
      const phase = this.#phase
      if (phase.name === 'inRoom') this.#inRoom(phase.place, message)
      else if (phase.name === 'waiting') this.#whileWaiting(phase, message)
      else if (phase.name === 'stranger' && !phase.asking) this.#enter(message)
      else throw new Problem('badRequest', 'Wait for the answer to the first message.')
    } catch (error) {
      this.#refuse(error)
    }
  }

  get #standing(): RoomStanding {
    const phase = this.#phase
    if (phase.name === 'inRoom') return phase.place.member.standing
    return phase.name === 'waiting' ? 'waiting' : 'stranger'
  }

  #inRoom(place: Place, message: FromPerson): void {
    const standing = place.member.user.role
    if (!maySend(standing, message)) {
      if (maySend('stranger', message)) throw new Problem('badRequest', 'You are in already.')
      throw new Problem('forbidden')
    }
    const { rooms, requests } = this.#dependencies
    const requester = { ...place, rooms, requests, refuse: (error: unknown) => this.#refuse(error) }
    handleRequest({ ...requester, close: () => this.close() }, message)
  }

  #refuse(error: unknown): void {
    if (!(error instanceof Problem)) return this.#failed(error)
    if (this.#phase.name === 'inRoom')
      return this.send({ type: 'error', reason: error.refusal, message: error.message })
    const other = error instanceof OnOtherNode ? { url: error.url } : openingOf(error)
    const { refusal: reason, message } = error
    this.send({ type: 'refused', code: error.code ?? error.status, reason, message, ...other })
    this.close()
  }

  #failed(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#dependencies.log.error('a signalling connection failed', text)
    this.#socket.close(1011)
  }

  #enter(message: FromPerson): void {
    if (!maySend('stranger', message)) throw new Problem('badRequest', 'The first message must be join or resume.')
    if (message.type === 'resume') return this.#resume(message)
    assertVersion(message.version)
    const caller = {
      token: message.token,
      hostPassword: message.host_password,
      userId: message.user_id,
      userName: message.user_name,
      browser: message.browser,
      pass: message.pass ?? '',
      byNumber: false,
      remote: this.#remote,
      path: '/signal' as const,
    }
    const room = this.#dependencies.rooms.find(message.room_id)
    this.#ticket = message.ticket ?? ''
    if (room !== undefined && caller.token !== '' && caller.hostPassword === '')
      return this.#join(message.room_id, caller)
    this.#phase = { name: 'stranger', asking: true }
    this.#joinLater(message.room_id, caller).catch((error: unknown) => this.#contained(() => this.#refuse(error)))
  }

  /** Joins after a check by the controller or of a password. Its duration must not reveal whether the room is open. */
  async #joinLater(roomId: string, caller: AdmissionCaller): Promise<void> {
    const { admission, requests } = this.#dependencies
    const began = performance.now()
    try {
      const proof = admission.toBeAsked(roomId, caller)
      if (proof !== undefined) {
        try {
          await requests.enter({ roomId, proof, client: plainAddress(this.#remote) })
        } catch (error) {
          // The proof is correct, but the room opens later. Waiting for the opening must not count as guessing.
          if (error instanceof NotOpenYet) admission.noteRight(roomId, proof, this.#remote)
          throw error
        }
        admission.noteRight(roomId, proof, this.#remote)
      }
      if (this.#socket.readyState !== this.#socket.OPEN) return
      this.#join(roomId, { ...caller, byNumber: proof?.by === 'number' })
    } catch (error) {
      if (!(error instanceof Problem) || error.refusal !== 'hostPasswordWrong') throw error
      await sleep(Math.max(0, began + wrongPasswordMs - performance.now()))
      throw error
    }
  }

  #join(roomId: string, caller: AdmissionCaller): void {
    const admission = admittedAs(this.#dependencies.admission.admit(roomId, caller), joiners)
    const { room } = admission
    if (admission.kind === 'newcomer' && this.#ticket !== '') admission.identity.ticket = this.#ticket
    if (admission.kind === 'member') {
      if (admission.host) room.attendance.promote(admission.member)
      return this.#take(room, admission.member, true)
    }
    if (room.waiting.mustWait(admission.identity) && !this.#wait(room, admission.identity)) return
    this.#take(room, room.attendance.enter(admission.identity), false)
  }

  /**
   * Adds the user to the waiting room. Returns true if a host has already admitted the user.
   * @throws Problem noRoom, locked, turnedAway, taken, busy
   */
  #wait(room: Room, identity: Identity): boolean {
    const link: WaitingLink = {
      send: (message) => this.send(message),
      enter: (admitted) => this.#take(room, room.attendance.enter(admitted), false),
      refuse: (problem) => this.#refuse(problem),
      removed: (reason) => {
        this.send({ type: 'removed', reason })
        this.close()
      },
    }
    if (room.waiting.wait(identity, link)) return true
    this.#phase = { name: 'waiting', room, userId: identity.userId, link }
    this.send(room.waiting.notice())
    if (this.#dependencies.settings().other_nodes.length > 0) this.notifyNodes()
    return false
  }

  #whileWaiting({ room, userId }: Extract<Phase, { name: 'waiting' }>, message: FromPerson): void {
    // A page that is being admitted may have sent other messages already.
    if (!maySend('waiting', message)) return
    if (message.type === 'ping') return this.send({ type: 'pong', id: message.id })
    room.waiting.leave(userId)
    this.close()
  }

  #resume({ version, session }: Extract<MessageOf<'stranger'>, { type: 'resume' }>): void {
    assertVersion(version)
    const place = this.#dependencies.rooms.bySession(session)
    if (place !== undefined) return this.#take(place.room, place.member, true)
    throw new Problem('noSession', 'The session is over: join again.')
  }

  #take(room: Room, member: RoomMember, resumed: boolean): void {
    const settings = this.#dependencies.settings()
    const { resume_ms, ice_servers, most_tiles, other_nodes, hosts_record, recording_aloud } = settings
    this.#phase = { name: 'inRoom', place: { room, member } }
    room.attendance.attach(member, this)
    const { roomId, topic, mode } = room.config
    this.send({
      type: 'joined',
      version: signalVersion,
      resumed,
      session: member.session,
      resume_ms,
      you: member.person,
      pass: this.#dependencies.admission.passFor(roomId, member),
      room: {
        room_id: roomId,
        topic,
        mode,
        peer_to_peer: isPeerToPeer(room.config),
        locked: room.config.locked,
        ...(room.recording && { recording: true }),
        ...(hosts_record && { may_record: true }),
        ...(!recording_aloud && { recording_silent: true }),
        ...endIn(room.config, Date.now()),
        ...restartIn(settings, Date.now()),
      },
      lost_cameras: room.members.lost.people,
      people: Array.from(room.members.values(), ({ person }) => person),
      streams: room.streams.views,
      chat: [...room.meeting.chat.lines],
      most_tiles,
      speaking: room.speakers.speaking,
      spoke: [...room.speakers.spoke],
      other_nodes,
      ice_servers,
    })
    for (const message of member.signalling.takeKept()) this.send(message)
    if (member.user.role === 'host') this.send({ type: 'waiting_list', people: room.waiting.people })
  }

  #closed(): void {
    const phase = this.#phase
    const { resume_ms } = this.#dependencies.settings()
    this.#phase = { name: 'over' }
    if (phase.name === 'inRoom') phase.place.room.attendance.detach(phase.place.member, this, resume_ms)
    else if (phase.name === 'waiting') phase.room.waiting.detach(phase.userId, phase.link, resume_ms)
  }
}

function openingOf(error: Problem): Pick<Extract<ToPerson, { type: 'refused' }>, 'opening'> {
  return error instanceof NotOpenYet ? { opening: openingIn(error.opening) } : {}
}
