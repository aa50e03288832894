import { FeedOverflows } from './rooms/feed-overflows.ts'
import { Deadline } from '../../shared/deadline.ts'
import type { ControlResult, MediaHandlers, MediaStart } from '../../shared/media/control.ts'
import type { ControllerEnd } from '../../shared/media/controller-methods.ts'
import type { MediaSettings } from '../../shared/media/media-settings.ts'
import { CameraPulls, type PullSettings } from './feeds/camera-pulls.ts'
import type { Feed } from './feeds/feed.ts'
import { newestKeyPicture } from './feeds/key-picture.ts'
import { MediaSessions } from './http/media-sessions.ts'
import { nodeServer } from './http/node-server.ts'
import { OfferQueue } from './base/event-loop.ts'
import type { Web, WebPort } from './http/web.ts'
import { LeadWatch } from './lead-watch.ts'
import { clocksOf, connectionStats, qualityOf, stillAnswer, streamStats } from './node-reports.ts'
import type { MediaLog } from './base/media-log.ts'
import { processLoad } from './base/traffic.ts'
import { AdmissionControl } from './rooms/admission.ts'
import { MediaRooms } from './rooms/media-rooms.ts'
import { admitWaiting, refuseWaiting } from './rooms/host-acts.ts'
import { LocalRoomMedia } from './http/local-room-media.ts'
import { RemoteRoomMedia } from './http/remote-room-media.ts'
import { RefusalTally } from './rooms/refusal-tally.ts'
import { restartIn } from './rooms/restart-notice.ts'
import { RoomRequests } from './rooms/room-requests.ts'
import { AllowedAddresses } from './rtsp/allowed-addresses.ts'
import { probe } from './rtsp/rtsp-probe.ts'
import { SignalServer } from './signal/signal-server.ts'
import { Recorder } from './record/recorder.ts'
import { TestCameras } from './test-camera/test-camera.ts'
import { TestPeople } from './test-people/test-people.ts'
import type { FfmpegRunner } from './transcode/ffmpeg-runner.ts'
import { Vp8Pictures } from './transcode/vp8-pictures.ts'
import { Transcoding } from './transcode/transcoding.ts'
import { PeerPorts } from './webrtc/peer-ports.ts'

export interface MediaServerDependencies {
  web: Web
  /** ffmpeg, run by the controller. */
  ffmpeg: FfmpegRunner
  controller: ControllerEnd
  /** Called when the controller no longer leads, because another node then serves these rooms. */
  fenced?: () => void
}

/** Handlers of the messages to a running node. */
type RunningHandlers = Omit<MediaHandlers, 'start' | 'stop' | 'ffmpeg'>

/** Media node: its rooms, cameras and users, and the HTTP listener for their connections. */
export class MediaServer {
  readonly #transcoding: Transcoding
  readonly #pulls: CameraPulls
  readonly #rooms: MediaRooms
  readonly #recorder: Recorder
  readonly #admission: AdmissionControl
  readonly #remoteMedia: RemoteRoomMedia
  readonly #refusals: RefusalTally
  readonly #sessions = new MediaSessions()
  readonly #signal: SignalServer
  readonly #start: MediaStart
  readonly #log: MediaLog
  readonly #peers: PeerPorts
  readonly #lead: LeadWatch
  readonly #overflows: FeedOverflows
  readonly #testCameras: TestCameras
  readonly #testPeople: TestPeople
  #settings: MediaSettings
  #port = 0
  readonly #server: WebPort

  private constructor(
    start: MediaStart,
    { web, ffmpeg, controller, fenced = () => {} }: MediaServerDependencies,
    log: MediaLog,
  ) {
    this.#start = start
    this.#lead = new LeadWatch(fenced)
    this.#lead.leaseMs = start.settings.lease_ms
    this.#log = log
    this.#overflows = new FeedOverflows(log)
    this.#peers = new PeerPorts(start.host, log)
    this.#settings = start.settings
    this.#testCameras = new TestCameras(web, log)
    this.#testPeople = new TestPeople(controller, {
      host: start.host,
      port: () => this.#port,
      certificate: start.tls?.cert,
    })
    this.#transcoding = new Transcoding(ffmpeg, start.settings.transcoders, log)
    this.#pulls = new CameraPulls(pullSettings(start.settings, start.port), this.#transcoding, log)
    this.#rooms = new MediaRooms(this.#pulls, start.settings.ban_ms, controller, log)
    this.#recorder = new Recorder({
      folder: start.recordings_folder,
      find: (roomId) => this.#rooms.find(roomId),
      pulls: this.#pulls,
      controller,
      log,
    })
    this.#rooms.streamsChanged = (roomId) => this.#recorder.follow(roomId)
    for (const removal of start.removals ?? []) this.#rooms.removals.add(removal)
    for (const outgoing of start.outgoing ?? []) this.#rooms.noteOutgoing(outgoing)
    this.#refusals = new RefusalTally(controller)
    this.#admission = new AdmissionControl(this.#rooms, Buffer.from(start.token_key, 'base64'), this.#refusals)
    const requests = new RoomRequests(controller)
    this.#remoteMedia = new RemoteRoomMedia(controller, this.#sessions)
    this.#signal = new SignalServer({
      rooms: this.#rooms,
      admission: this.#admission,
      requests,
      settings: () => this.#settings,
      log,
    })
    const sessions = this.#sessions
    const local = new LocalRoomMedia({
      pulls: this.#pulls,
      vp8: new Vp8Pictures(this.#transcoding),
      sessions,
      peerSettings: () => this.#peers.settings(this.#settings.advertised),
      settings: () => this.#settings,
    })
    this.#server = nodeServer({
      web,
      passedOn: start.passed_on,
      pageFolder: start.page_folder,
      log,
      parts: {
        rooms: this.#rooms,
        admission: this.#admission,
        requests,
        mediaOf: (room) => (room.config.isRemote ? this.#remoteMedia : local),
        offers: new OfferQueue(),
        sessions,
        settings: () => this.#settings,
      },
      reached: (visit) => controller.notify('pageReached', visit),
      upgrade: (request, socket, head) => this.#signal.upgrade(request, socket, head, web.client(request)),
    })
  }

  /**
   * Starts a node. Resolves once the node listens.
   * @throws Error of the listener, e.g. EADDRINUSE
   */
  static async start(start: MediaStart, dependencies: MediaServerDependencies, log: MediaLog): Promise<MediaServer> {
    const server = new MediaServer(start, dependencies, log)
    await server.#listen()
    return server
  }

  get ports(): ControlResult<'start'> {
    return { port: this.#port, udp_port: this.#peers.udpPort }
  }

  readonly handlers: RunningHandlers = {
    set_settings: async (settings) => {
      const isSame = settings.other_nodes.join() === this.#settings.other_nodes.join()
      const restartChanged = settings.restarts_at !== this.#settings.restarts_at
      this.#settings = settings
      this.#lead.leaseMs = settings.lease_ms
      if (!isSame) this.#signal.notifyNodes()
      if (restartChanged) {
        const message = { type: 'restart', ...restartIn(settings, Date.now()) } as const
        // Includes rooms with remote media.
        for (const room of this.#rooms.all()) room.members.broadcast(message)
      }
      this.#transcoding.limit = settings.transcoders
      this.#pulls.settings = pullSettings(settings, this.ports.port)
      this.#rooms.banMs = settings.ban_ms
      this.#testCameras.set(settings.test_cameras)
      this.#testPeople.set(settings.test_people)
    },
    leads: async () => {
      this.#lead.confirmed()
    },
    set_certificate: async (tls) => {
      this.#server.secure(tls)
      this.#testPeople.certificate = tls.cert
    },
    connections: async () => ({ connections: this.#server.connections }),
    open_room: async ({ remote, ...room }) => {
      this.#rooms.open({ ...room, isRemote: remote === true })
      this.#recorder.follow(room.roomId)
    },
    close_room: async ({ roomId, moves, remote }) => {
      this.#rooms.close(roomId, moves === true ? 'restarting' : 'closed', remote === true)
      if (this.#rooms.find(roomId) === undefined) this.#recorder.forget(roomId)
    },
    note_removal: async (removal) => {
      this.#rooms.removals.add(removal)
    },
    note_outgoing: async (outgoing) => {
      this.#rooms.noteOutgoing(outgoing)
    },
    set_remote_room: async ({ roomId, ...state }) => {
      this.#rooms.findRemote(roomId)?.remote.set(state)
    },
    remove_remote_user: async ({ roomId, userId, reason }) => {
      this.#rooms.findRemote(roomId)?.attendance.remove(userId, reason, true)
    },
    mute: async ({ roomId, userId, kind, by }) => ({ muted: this.#rooms.mute(roomId, userId, kind, by) }),
    end_remote_media: async ({ session }) => {
      this.#remoteMedia.ended(session)
    },
    users: async ({ roomId }) => ({
      users: Array.from(this.#rooms.find(roomId)?.members.values() ?? [], ({ user }) => user),
    }),
    admit_waiting: async ({ roomId, userId }) => admitWaiting(this.#rooms.find(roomId), userId),
    refuse_waiting: async ({ roomId, userId }) => refuseWaiting(this.#rooms.find(roomId), userId),
    message_waiting: async ({ roomId, userId, from, text }) => ({
      reached:
        this.#rooms.find(roomId)?.waiting.tell({ type: 'waiting_message', from, text, at: Date.now() }, userId) ?? 0,
    }),
    key_picture: async ({ roomId, streamId }, signal) => {
      const feed = this.#feedOf(roomId, streamId)
      const picture = feed && (await newestKeyPicture(feed, signal))
      return { picture: picture === undefined ? null : { ...picture, frame: picture.frame.toString('base64') } }
    },
    camera_quality: async ({ roomId, streamId }) => qualityOf(this.#pulls, this.#feedOf(roomId, streamId)),
    camera_clocks: async () => clocksOf(this.#pulls, this.#rooms.all()),
    camera_still: (params, signal) => stillAnswer(this.#pulls, params, signal),
    show: async ({ session, height }) => ({ there: this.#sessions.shown(session, height) }),
    kick: async ({ roomId, userId }) => ({ kicked: this.#rooms.kick(roomId, userId) }),
    add_device: async ({ roomId, device, leftMs }, signal) => {
      await this.#rooms.devices.add(roomId, device, Deadline.in(leftMs, signal))
    },
    remove_device: async ({ roomId, userId }) => {
      this.#rooms.devices.remove(roomId, userId)
    },
    set_recording: async (order) => {
      this.#recorder.order(order)
    },
    rooms: async () => ({ roomIds: this.#rooms.ownIds }),
    health: async () => {
      this.#overflows.look(this.#rooms.all())
      return {
        rooms: this.#rooms.ownIds.length,
        users: this.#rooms.userCount,
        pulls: this.#pulls.size,
        load: processLoad(),
      }
    },
    transcoding: async () => await this.#transcoding.status(),
    test_cameras: async () => {
      await this.#testCameras.settled()
      return { cameras: this.#testCameras.states }
    },
    test_people: async () => ({ groups: this.#testPeople.states }),
    probe: async (camera, signal) => {
      const { trust_any_certificate, camera_answer_ms } = this.#settings
      const options = {
        trustAnyCertificate: trust_any_certificate,
        answerMs: camera_answer_ms,
        allowed: this.#pulls.settings.allowed,
        abilities: () => this.#transcoding.abilities(),
        log: this.#log,
      }
      const result = await probe({ login: undefined, ...camera }, options, signal)
      if (result.ok) return { ...result, kind: null, message: '', detail: '' }
      return result
    },
    stats: async ({ roomId }) => {
      const one = roomId === undefined ? undefined : this.#rooms.find(roomId)
      const rooms = roomId === undefined ? [...this.#rooms.all()] : one === undefined ? [] : [one]
      return { streams: rooms.flatMap(streamStats), connections: rooms.flatMap(connectionStats) }
    },
  }

  /** Removes all users and closes all resources. */
  async close(): Promise<void> {
    this.#lead.stop()
    const recorded = this.#recorder.close()
    this.#rooms.closeAll()
    this.#signal.close()
    this.#refusals.close()
    this.#pulls.close()
    this.#testCameras.close()
    this.#testPeople.close()
    await this.#server.stop()
    this.#peers.close()
    await recorded
  }

  #feedOf(roomId: string, streamId: string): Feed | undefined {
    const streams = Array.from(this.#rooms.find(roomId)?.streams.values() ?? [])
    return streams.find(({ view }) => view.stream_id === streamId)?.feed
  }

  async #listen(): Promise<void> {
    const { host, port, tls, former_tls: formerTls, udp_port } = this.#start
    this.#port = (await this.#server.start({ host, port, tls, formerTls })).port
    // The node's own port also counts as a site port, which no camera address may have.
    this.#pulls.settings = pullSettings(this.#settings, this.#port)
    await this.#peers.open(udp_port, this.#port)
    // After the node's own ports, so that no camera takes one of them.
    this.#testCameras.set(this.#settings.test_cameras)
    this.#testPeople.set(this.#settings.test_people)
  }
}

/** @param port the node's port; 0: the node does not listen yet */
function pullSettings(settings: MediaSettings, port: number): PullSettings {
  return {
    transport: settings.camera_transport,
    trustAnyCertificate: settings.trust_any_certificate,
    answerMs: settings.camera_answer_ms,
    stallMs: settings.camera_stall_ms,
    allowed: new AllowedAddresses({
      networks: settings.camera_networks,
      sitePorts: port === 0 ? settings.site_ports : [...settings.site_ports, port],
      siteAddresses: settings.advertised,
    }),
  }
}
