import { computed, shallowReactive, shallowRef } from 'vue'
import type { LinkRefusal } from '../../../shared/media/entry-look.ts'
import type { FromPerson, Person, ScheduledEnd, ToPerson } from '../../../shared/media/signal.ts'
import { httpExchange, type OfferExchange } from '../../kit/media/sdp-exchange.ts'
import type { DeviceNews } from '../local/device-input.ts'
import { OwnDevices } from '../local/own-devices.ts'
import { sayRecordingOn } from '../local/say-recording-on.ts'
import { ScreenShare } from '../local/screen-share.ts'
import { Announcer } from './announcer.ts'
import { AwaitedRoom } from './awaited-room.ts'
import { ChatLines, OwnLines } from './chat-lines.ts'
import type { Ending } from './ending.ts'
import { type ContinuedVisit, PageRenewal } from './page-renewal.ts'
import { Measuring } from './measuring.ts'
import { Mesh } from './mesh.ts'
import { NodeLoss } from './node-loss.ts'
import { type Notice, Notices } from './notices.ts'
import type { RemoteMedia } from './remote-media.ts'
import { RequestedLink } from './requested-link.ts'
import { RoomView } from './room-view.ts'
import { lookAtRoom } from './room-look.ts'
import { Roster } from './roster.ts'
import { Sending } from './sending.ts'
import { type Joined, type JoinRequest, SignalClient } from './signal-client.ts'
import { ShownReactions } from './shown-reactions.ts'
import { Speaking } from './speaking.ts'
import { type ShownTrouble, Troubles } from './troubles.ts'
import { Watching } from './watching.ts'

/** Maximum number of reported heights; no room shows more streams. */
const maxShown = 256

/** Maximum length of the preview of a chat message. */
const maxPreview = 90

/** Time by which a room may close before its announced end, in milliseconds: messages are delayed. */
const endSlackMs = 5_000

/** Notices for refused requests. */
const refusalNotices: Readonly<Record<string, Notice['text']>> = {
  roomFull: 'full',
  locked: 'lockedNow',
  busy: 'notNow',
  tooMany: 'tooFast',
}
/** Refusals that may be temporary while the user waits for a room. */
const passing: ReadonlySet<string> = new Set(['unreachable', 'busy', 'tooMany'])

/** One visit to a room, with all sent and received media. */
export class RoomSession {
  readonly view: RoomView = shallowReactive(new RoomView())
  readonly announcer = new Announcer()
  readonly notices = new Notices(this.announcer)
  readonly chat = new ChatLines(this.view, ({ user_name: name, text }) =>
    this.notices.tell('chatLine', { name, text: shortened(text) }),
  )
  readonly #roster = new Roster(this.view, this.notices)
  readonly people: ReadonlyMap<string, Person> = this.#roster.people
  /** Disconnected cameras that are expected to return. */
  readonly lostCameras: ReadonlyMap<string, Person> = this.#roster.lostCameras
  readonly devices = new OwnDevices(
    () => this.#deviceChanged(),
    (news) => this.#toldOfDevice(news),
  )
  readonly microphone = this.devices.microphone
  readonly camera = this.devices.camera
  readonly speaker = this.devices.speaker
  readonly screen = new ScreenShare(() => this.#publish())
  readonly watching = new Watching()
  readonly mesh = new Mesh()
  readonly speaking = new Speaking()
  readonly reactions = new ShownReactions()
  /** Received media, by stream. */
  readonly media = computed<ReadonlyMap<string, RemoteMedia>>(
    () => new Map([...this.mesh.media, ...this.watching.media]),
  )
  /** URL of the node that served the page, which can resolve the room's node. */
  readonly #home: string
  /** URL of the room's node; that of `#home` until the room's node is known. */
  #origin: string
  readonly #sending = new Sending(this.screen, this.notices, (query) => this.#whip(query))
  readonly #ownLines = new OwnLines()
  readonly #requestedLink = new RequestedLink()
  readonly #loss = new NodeLoss(this.view)
  readonly #awaited = new AwaitedRoom(this.view, () => this.#begin())
  #request: JoinRequest | undefined
  /** Continues the visit in a new page if the node now uses TLS, or the page's policy blocks a node. */
  readonly #renewal: PageRenewal
  #measuring: Measuring | undefined
  readonly #troubles = shallowRef<Troubles>()
  /** Problem of the connection or a device that lasts; null: none. */
  readonly trouble = computed<ShownTrouble | null>(() => this.#troubles.value?.shown.value ?? null)
  #signal: SignalClient | undefined
  #joined: Joined | undefined
  /** This user has asked to end the meeting for everybody. */
  #endsMeeting = false
  /** Displayed heights of streams, in device pixels. */
  #heights: ReadonlyMap<string, number> = new Map()

  /** @param origin origin of the node, e.g. `http://10.0.0.5:7082` */
  constructor(origin: string) {
    this.#home = origin
    this.#origin = origin
    this.#renewal = new PageRenewal(origin, () => this.#visit)
    window.addEventListener('pagehide', () => this.leave(true))
  }

  get #visit(): ContinuedVisit | undefined {
    const knows = (origin: string): boolean => this.#signal?.knows(origin) === true
    return this.#request && { request: this.#request, knows, left: this.devices.left }
  }

  /** Joins the room. */
  join(request: JoinRequest): void {
    Object.assign(this.view, { phase: 'joining', ending: null, letter: null, roomId: request.roomId })
    this.#request = request
    this.#begin()
  }

  #begin(): void {
    const request = this.#request
    if (request === undefined) return
    this.#signal?.leave(true)
    this.#origin = this.#home
    this.#signal = new SignalClient(
      this.#origin,
      request,
      {
        joined: (message) => this.#entered(message),
        waiting: ({ topic, host_here }) => {
          this.#awaited.end()
          const waitingFor = host_here ? 'host' : 'anyHost'
          Object.assign(this.view, { phase: 'waiting', waitingFor, connected: true, topic })
        },
        message: (message) => this.#received(message),
        moved: (origin) => {
          this.#origin = origin
        },
        failed: () => void this.#renewal.toHttps(),
        lost: (restarting, mediaOver) => this.#loss.began(restarting, !mediaOver && this.#ticket !== ''),
        ended: (ending) => void this.#toldEnd(ending),
      },
      () => this.#ticket,
    )
  }

  /** Ticket of media on a server other than the node: with it, the media also continues through the next node. */
  get #ticket(): string {
    return this.#sending.ticket || this.watching.ticket
  }

  /** Leaves by the user's choice. @param back the page reloads and rejoins soon */
  leave(back = false): void {
    if (this.#signal === undefined) return
    this.#signal.leave(back)
    this.#ended({ reason: 'left', message: '' })
  }

  /** Checks at once whether the room is open. */
  tryNow(): void {
    this.#awaited.now()
  }

  /** Stops waiting for the room. */
  giveUp(): void {
    this.#awaited.end()
    const signal = this.#signal
    this.#signal = undefined
    signal?.leave()
    this.toLobby()
  }

  /** Ends the visit at the entrance: the node refused the link before joining. */
  refuse(reason: LinkRefusal): void {
    if (this.view.phase === 'lobby') Object.assign(this.view, { phase: 'ended', ending: { reason, message: '' } })
  }

  /** Returns to the entrance. */
  toLobby(): void {
    Object.assign(this.view, { phase: 'lobby', ending: null })
  }

  /** Returns whether the message was sent, or will be sent after the reconnection. */
  say(text: string): boolean {
    const sent = this.#signal?.send({ type: 'chat', text }) ?? false
    // A loss that the page does not show yet usually recovers within seconds.
    if (sent || this.view.connected) this.#ownLines.say(text)
    return sent || this.view.connected
  }

  /** Sends a request to the node. Returns whether it was sent. */
  ask(message: FromPerson): boolean {
    const sent = this.#signal?.send(message) ?? false
    if (message.type === 'end_meeting') this.#endsMeeting = sent
    return sent
  }

  /** For hosts: creates a join link for anybody; undefined: the node created none. */
  requestLink(): Promise<string | undefined> {
    return this.#requestedLink.request(() => this.ask({ type: 'invite' }))
  }

  /** Reports the displayed height of each stream, in device pixels; 0: hidden. */
  show(heights: ReadonlyMap<string, number>): void {
    this.#heights = heights
    for (const [id, height] of heights) this.watching.show(id, height)
    this.#reportShown()
  }

  /** Hides the shown problem for some minutes. */
  dismissTrouble(): void {
    this.#troubles.value?.dismiss()
  }

  #newTroubles(): Troubles {
    return new Troubles({
      sending: () => this.#sending.connection,
      media: () => this.media.value.values(),
      on: () => ({ microphone: this.microphone.input.on, camera: this.camera.input.on }),
      connected: () => this.view.connected && document.visibilityState === 'visible',
    })
  }

  showChat(open: boolean): void {
    this.view.chatOpen = open
    if (open) this.view.unread = 0
  }

  #entered(message: Joined): void {
    const { you, room, people, streams, ice_servers, session, resumed } = message
    const first = this.#joined === undefined
    const peerToPeer = room.peer_to_peer
    // Another node or process may not know this session yet.
    const goesOn = !resumed && !first && !peerToPeer && this.#ticket !== ''
    const wasLost = this.#loss.ended()
    const { handRaised } = this.view
    this.#awaited.end()
    this.#joined = message
    const maxTiles = message.most_tiles
    Object.assign(this.view, {
      phase: 'in',
      connected: true,
      restarting: false,
      you,
      topic: room.topic,
      locked: room.locked,
      mayRecord: room.may_record === true,
      end: endOf(room),
      peerToPeer,
      maxTiles,
    })
    this.#restartChanged(room.restarts_in_ms, resumed)
    this.#recordingChanged(room.recording === true)
    this.#roster.enter(people, message.lost_cameras, goesOn)
    this.#ownLines.told(message.chat, you.user_id)
    this.chat.take(message.chat, first)
    const iceServers = ice_servers.map(({ urls, username, credential }) => ({
      urls,
      ...(username === '' ? {} : { username, credential }),
    }))
    this.speaking.enter(message)
    this.watching.hear(this.speaking.voices)
    this.watching.enter({ origin: this.#origin, roomId: room.room_id, session, iceServers }, goesOn)
    const watched = streams.filter(({ user_id }) => user_id !== you.user_id)
    this.watching.keep(watched, goesOn)
    const others = people.filter((person) => !person.device && person.user_id !== you.user_id)
    const ids = others.map(({ user_id }) => user_id)
    if (peerToPeer && resumed) {
      this.mesh.keep(ids)
    } else if (peerToPeer) {
      const relay = this.#signal
      this.mesh.enter(
        { ownId: you.user_id, iceServers, relay: (to, payload) => relay?.send({ type: 'relay', to, payload }) },
        ids,
      )
    }
    this.#measuring ??= new Measuring(() => [...this.watching.measured(), ...this.mesh.measured()])
    this.#troubles.value ??= this.#newTroubles()
    if (goesOn) this.#sending.move()
    else if (!resumed) this.#sending.restart()
    if (goesOn && handRaised) this.#signal?.send({ type: 'hand', raised: true })
    this.#publish()
    this.#notifyState()
    this.#reportShown()
    const { fresh, late } = this.#ownLines.again()
    for (const text of fresh) this.#signal?.send({ type: 'chat', text })
    if (late.length > 0) {
      this.chat.giveBack(late)
      this.notices.tell('notSent', {}, 'warn')
    }
    if (!first && wasLost) this.notices.tell('back')
  }

  #received(message: ToPerson): void {
    switch (message.type) {
      case 'person_joined':
        return this.#roster.came(message.person)
      case 'person_changed':
        return this.#roster.changed(message.person)
      case 'person_left':
        return this.#left(message.user_id, message.lost === true)
      case 'waiting_list':
        return this.#roster.wait(message.people)
      case 'invitation':
        return this.#requestedLink.take(message.url)
      case 'waiting_message':
        this.view.letter = { from: message.from, text: message.text }
        return
      case 'hand_lowered':
        return this.notices.tell('handLowered', { name: this.people.get(message.by)?.user_name ?? message.by })
      case 'stream_added':
        if (message.stream.user_id !== this.view.you?.user_id) this.watching.add(message.stream)
        return
      case 'stream_removed':
        return this.watching.remove(message.stream_id, true)
      case 'stream_size':
        return this.watching.sent(message.stream_id, message.size)
      case 'speaking':
        return this.#speak(message.user_ids)
      case 'reactions':
        return this.#react(message.list)
      case 'chat':
        this.#ownLines.told([message.line], this.view.you?.user_id)
        return this.chat.take([message.line], false)
      case 'muted':
        return this.#muted(message)
      case 'recording':
        return this.#recordingChanged(message.on)
      case 'restart':
        return this.#restartChanged(message.restarts_in_ms, true)
      case 'room_changed':
        return this.#roomChanged(message)
      case 'relay':
        return this.mesh.received(message.from, message.payload)
      case 'error':
        return this.notices.tell(refusalNotices[message.reason] ?? 'refused', {}, 'warn')
      default:
        return
    }
  }

  #speak(userIds: readonly string[]): void {
    for (const userId of userIds) {
      const person = this.people.get(userId)
      if (person === undefined || person.device || userId === this.view.you?.user_id) continue
      if (!this.speaking.now.has(userId)) this.announcer.tell('speaks', person.user_name)
    }
    this.speaking.change(userIds)
    this.watching.hear(this.speaking.voices)
  }

  #react(list: Extract<ToPerson, { type: 'reactions' }>['list']): void {
    for (const { user_id, reaction } of list) {
      this.reactions.show(user_id, reaction)
      const name = this.people.get(user_id)?.user_name
      if (name !== undefined && user_id !== this.view.you?.user_id) this.announcer.tell(reaction, name)
    }
  }

  #left(userId: string, lost: boolean): void {
    this.#roster.left(userId, lost)
    this.mesh.remove(userId)
    this.speaking.remove(userId)
  }

  #roomChanged({ topic, locked, end }: Extract<ToPerson, { type: 'room_changed' }>): void {
    this.view.topic = topic
    this.view.end = endOf({ end })
    if (locked !== this.view.locked) this.notices.tell(locked ? 'locked' : 'unlocked')
    this.view.locked = locked
  }

  /**
   * Stores the announced restart. @param sameNode false after a restart or a move of the room: a missing announcement
   * is then no cancellation
   */
  #restartChanged(inMs: number | undefined, sameNode: boolean): void {
    const now = Date.now()
    const { restartsAt } = this.view
    if (inMs === undefined && sameNode && restartsAt !== null && restartsAt > now) this.notices.tell('restartOff')
    this.view.restartsAt = inMs === undefined ? null : now + inMs
  }

  /** Announces the start of a recording once, on the screen and aloud, and its end on the screen. */
  #recordingChanged(on: boolean): void {
    if (on === this.view.recording) return
    this.view.recording = on
    this.notices.tell(on ? 'recordingOn' : 'recordingOff', {}, on ? 'warn' : 'info')
    if (on && this.#joined?.room.recording_silent !== true) sayRecordingOn(this.speaker.sink)
  }

  #muted({ by, kind }: Extract<ToPerson, { type: 'muted' }>): void {
    if (kind === 'audio') this.microphone.turnOff()
    else this.camera.turnOff()
    const text = kind === 'audio' ? 'mutedBy' : 'stoppedBy'
    if (by === '') this.notices.tell(`${text}Operator`, {}, 'warn')
    else this.notices.tell(text, { name: this.people.get(by)?.user_name ?? by }, 'warn')
  }

  #toldOfDevice(news: DeviceNews): void {
    if (news.what === 'replaced') this.notices.tell('unplugged', { lost: news.lost, instead: news.instead }, 'warn')
    else this.notices.tell(news.kind === 'audio' ? 'micBack' : 'camBack', { name: news.name }, 'warn')
  }

  #deviceChanged(): void {
    this.#publish()
    this.#notifyState()
  }

  /** Publishes the active media, to the node or directly to everybody. */
  #publish(): void {
    if (this.#joined === undefined) return
    const audio = this.microphone.input.track
    const video = this.camera.input.track
    const screen = { video: this.screen.video.value, audio: this.screen.audio.value }
    if (this.view.peerToPeer) {
      this.mesh.send({ audio, video, screen: screen.video })
    } else {
      this.#sending.send({ audio, video }, screen)
    }
  }

  #notifyState(): void {
    if (this.#joined === undefined) return
    this.#signal?.send({ type: 'state', audio: this.microphone.input.on, video: this.camera.input.on })
  }

  /** Reports the displayed heights to the node. In a peer-to-peer room streams come from the peers. */
  #reportShown(): void {
    if (this.#joined === undefined || this.view.peerToPeer) return
    const streams = Array.from(this.#heights, ([stream_id, height]) => ({ stream_id, height }))
    this.#signal?.send({ type: 'shown', streams: streams.slice(0, maxShown) })
  }

  #whip(query: string): OfferExchange | undefined {
    const joined = this.#joined
    if (joined === undefined || joined.room.peer_to_peer) return undefined
    const url = `${this.#origin}/whip/${encodeURIComponent(joined.room.room_id)}${query}`
    return httpExchange(url, joined.session, joined.ice_servers)
  }

  /**
   * Ends the visit with the reason from the node. If the room was deleted, that replaces the reason, because the room
   * cannot open again.
   */
  async #toldEnd(ending: Ending): Promise<void> {
    const signal = this.#signal
    if (ending.reason !== 'noRoom') this.#ended(ending)
    const told = this.view.ending
    const mayBeDeleted = ending.reason === 'noRoom' || ending.reason === 'closed'
    const isDeleted = mayBeDeleted && (await this.#isDeleted())
    if (ending.reason === 'noRoom' && signal === this.#signal)
      this.#ended(isDeleted ? { ...ending, reason: 'deleted' } : ending)
    else if (isDeleted && told === this.view.ending) this.view.ending = { ...ending, reason: 'deleted' }
  }

  async #isDeleted(): Promise<boolean> {
    const { roomId = '', token = '' } = this.#request ?? {}
    return token !== '' && (await lookAtRoom(this.#home, roomId, token))?.refusal === 'deleted'
  }

  #ended(given: Ending): void {
    if (this.#signal === undefined) return
    const isOwn = given.reason === 'ended' && this.#endsMeeting
    const ending = isOwn
      ? { ...given, reason: 'endedByYou' as const }
      : this.#isOver(given)
        ? { ...given, reason: 'over' as const }
        : given
    this.#endsMeeting = false
    this.#signal = undefined
    this.#loss.clear()
    this.#ownLines.clear()
    const opens =
      ending.reason === 'noRoom' ||
      ending.reason === 'notOpenYet' ||
      (this.#awaited.awaited && passing.has(ending.reason))
    if (opens && this.#joined === undefined && this.#awaited.await(ending.opening)) return
    this.#awaited.end()
    const wasInside = this.#joined !== undefined
    this.#joined = undefined
    this.#measuring?.stop()
    this.#measuring = undefined
    this.#troubles.value?.stop()
    this.#troubles.value = undefined
    this.screen.stop()
    this.#sending.stop()
    this.watching.clear()
    this.mesh.clear()
    this.#roster.enter([], [])
    this.speaking.clear()
    this.reactions.clear()
    this.announcer.clear()
    this.#heights = new Map()
    this.chat.clear()
    const { roomId, topic, byNumber } = this.view
    Object.assign(this.view, new RoomView(), { phase: 'ended', ending, wasInside, roomId, topic, byNumber })
  }

  /** Returns whether the room closed after the scheduled end of its meeting. */
  #isOver({ reason }: Ending): boolean {
    const { end } = this.view
    return reason === 'closed' && end !== null && Date.now() > end.at - endSlackMs
  }
}

/** Returns the beginning of a message, on one line. */
function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > maxPreview ? `${line.slice(0, maxPreview).trimEnd()}…` : line
}

/** Returns the scheduled end of a meeting by the clock of this device. */
function endOf({ end }: ScheduledEnd): RoomView['end'] {
  const now = Date.now()
  return end === undefined ? null : { at: now + end.ends_in_ms, closesAt: now + end.closes_in_ms }
}
