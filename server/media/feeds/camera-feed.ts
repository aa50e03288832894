import type { TrackReason } from '../../../shared/media/transcoding.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { wholeText } from '../base/media-log.ts'
import { CleanMedia } from '../clean/clean-media.ts'
import { DecodingEntries } from '../rtp/key-frame.ts'
import { Refragmentation } from '../rtp/nal-units.ts'
import { isRtp, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import type { ClockPoint } from '../rtp/rtcp.ts'
import {
  codecSupportOf,
  isRecordedConverted,
  lateShortcoming,
  parameterObstacle,
  shortcomingsOf,
  unconvertedSound,
} from '../rtsp/codec-support.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import { describedParameters, sentParameters } from '../rtsp/resolution.ts'
import type { RtspError } from '../rtsp/rtsp-error.ts'
import { CameraConversion } from '../transcode/camera-conversion.ts'
import type { Abilities, Transcoding } from '../transcode/transcoding.ts'
import type { AudioFormat, VideoFormat } from './feed-tracks.ts'
import { Feed } from './feed.ts'

/** Profile of ffmpeg's output: constrained baseline, which every browser plays. */
const convertedProfile = '42e01f'

/** Feed of a camera, with its media unchanged, or converted if browsers cannot play the media. */
export class CameraFeed {
  readonly feed: Feed
  readonly #conversion: CameraConversion
  readonly #transcoding: Transcoding
  readonly #tracks: readonly RtspTrack[]
  readonly #abilities: Abilities
  /** Facts from the packets that may be missing in the camera's description. */
  readonly #shown = { order: new PictureOrder(), entries: new DecodingEntries() }
  #video: Refragmentation | undefined
  readonly #clean: CleanMedia
  /** Number of the last emitted picture packet; -1 before the first. */
  #sequence = -1
  /** Whether the stream's own parameter sets were checked, or need no check. */
  #looked: boolean

  /**
   * @param tracks accepted tracks
   * @param described all tracks that the camera describes
   * @param refusals reasons why the camera does not send some of the tracks
   */
  constructor(
    tracks: readonly RtspTrack[],
    transcoding: Transcoding,
    described: readonly RtspTrack[] = tracks,
    refusals: readonly RtspError[] = [],
  ) {
    this.#tracks = tracks
    this.#transcoding = transcoding
    this.#abilities = transcoding.known
    const converted = (track: RtspTrack): boolean => codecSupportOf(track, this.#abilities).way === 'converted'
    const video = tracks.find(({ kind }) => kind === 'video')
    const audio = tracks.find(({ kind }) => kind === 'audio')
    this.feed = new Feed({
      video: video && (converted(video) ? convertedVideo : videoFormat(video)),
      audio: audio && (converted(audio) ? convertedAudio : carriedAudio(audio, this.#abilities)),
      cached: true,
      // RTSP cannot request a key frame from a camera, but the node's own conversion can make one.
      requestKeyFrame: () => this.#conversion.requestKeyFrame(),
    })
    this.feed.raw.video.format = video
    this.feed.raw.audio.format = audio
    this.feed.raw.video.recent = () => this.#recent()
    this.#conversion = new CameraConversion(this.feed, transcoding)
    this.feed.playback.conversion = this.#conversion
    if (audio !== undefined && isRecordedConverted(audio, video, this.#abilities)) {
      this.feed.raw.audio.format = { codec: 'OPUS', clockRate: 48_000, channels: 2, parameters: new Map() }
      this.feed.raw.audio.hold = () => this.#conversion.prepare()
      this.feed.playback.unconvertedSound = unconvertedSound(audio)
    }
    this.feed.playback.shortcomings = shortcomingsOf(described, tracks, this.#abilities, refusals)
    for (const track of tracks.filter(converted)) {
      this.#conversion.convert(track, { interlaced: describedParameters(track)?.interlaced === true })
    }
    this.#looked = video?.codec !== 'H264' || converted(video)
    const { codec } = this.feed.video ?? {}
    if (codec === 'H264' || codec === 'H265') {
      this.#video = new Refragmentation(codec, (packet) => this.feed.pushVideo(packet))
    }
    this.#clean = new CleanMedia(tracks, {
      emit: (track, packet) => this.#pass(track, packet),
      after: (milliseconds, run) => this.#after(milliseconds, run),
    })
  }

  /** Whether this machine would convert the tracks differently now than at the start. */
  get outdated(): boolean {
    const now = this.#transcoding.known
    return this.#tracks.some((track) => codecSupportOf(track, now).way !== codecSupportOf(track, this.#abilities).way)
  }

  rtp(track: RtspTrack, packet: Buffer): void {
    if (!isRtp(packet) || ((packet[1] ?? 0) & 0x7f) !== track.payloadType) return
    this.#clean.push(track, packet)
  }

  /**
   * Returns the packets since the last key frame, with the source's numbers. Before the first key frame, returns the
   * packets of the newest picture.
   */
  #recent(): readonly Buffer[] {
    const group = this.#conversion.tracks.inputs.video?.group ?? this.feed.kept.gathered
    const last = group.at(-1)
    if (last === undefined || this.#sequence < 0) return []
    const offset = this.#sequence - sequenceOf(last)
    return group.map((packet) => {
      const copy = Buffer.from(packet)
      copy.writeUInt16BE((sequenceOf(packet) + offset) & 0xffff, 2)
      return copy
    })
  }

  /**
   * Calls `run` after a delay, unless the returned function is called before. An unexpected error ends only this
   * camera.
   */
  #after(milliseconds: number, run: () => void): () => void {
    const timer = setTimeout(() => {
      try {
        run()
      } catch (error) {
        this.#transcoding.log.error('pictures of a camera could not be put together', wholeText(error))
        this.end()
      }
    }, milliseconds).unref()
    return () => clearTimeout(timer)
  }

  #pass(track: RtspTrack, packet: Buffer): void {
    if (track.kind === 'video') this.#sequence = sequenceOf(packet)
    const raw = this.feed.raw[track.kind]
    if (!raw.isConverted) raw.push(packet)
    if (!this.#looked && track.kind === 'video') this.#look(track, packet)
    if (this.#conversion.push(track.kind, packet)) return
    if (track.kind === 'audio') {
      if (this.feed.audio !== undefined) this.feed.pushAudio(packet)
      return
    }
    const codec = this.feed.video?.codec
    if (codec === 'VP8') return this.feed.pushVideo(packet)
    if (this.#video === undefined) return
    this.#noteOrder(track, packet)
    if (codec === 'H264' && this.feed.gop.length === 0) this.#noteEntry(track, packet)
    this.#video.push(packet)
  }

  report(track: RtspTrack, point: ClockPoint): void {
    const raw = this.feed.raw[track.kind]
    // Converted media is timed by arrival, so the source's timestamps do not apply.
    if (!raw.isConverted) raw.report(point)
    this.#conversion.report(track.kind, point)
  }

  end(): void {
    this.#clean.close()
    this.#conversion.close()
    this.feed.end()
  }

  /** Detects B-frames that the camera did not describe. */
  #noteOrder(track: RtspTrack, packet: Buffer): void {
    if (this.feed.playback.bFrames) return
    this.#shown.order.note(packet)
    if (!this.#shown.order.reordered) return
    this.feed.playback.bFrames = true
    this.#convertLate(track, 'b_frames')
  }

  /** Detects recovery points in a stream without IDR pictures, which browsers require to begin. */
  #noteEntry(track: RtspTrack, packet: Buffer): void {
    if (this.#shown.entries.recovers(packet)) this.#convertLate(track, 'recovery_points')
  }

  /** Checks the parameter sets in the stream, because a camera may describe none. */
  #look(track: RtspTrack, packet: Buffer): void {
    const sets = sentParameters(packet)
    this.#looked = sets.length > 0
    for (const parameters of sets) {
      const reason = parameterObstacle(parameters)?.reason
      if (reason === undefined) continue
      if (reason === 'b_frames') this.feed.playback.bFrames = true
      this.#convertLate(track, reason)
    }
  }

  #convertLate(track: RtspTrack, reason: TrackReason): void {
    // If the search for ffmpeg is not complete yet, the conversion begins with the next viewer.
    const converted = this.#transcoding.abilities().then(({ pictures }) => {
      if (this.feed.over) return
      if (pictures) return this.#conversion.convert(track, { interlaced: reason === 'interlaced', late: true })
      const { playback } = this.feed
      if (playback.shortcomings.some(({ kind }) => kind === 'video')) return
      playback.shortcomings = [lateShortcoming(reason, 'needs_ffmpeg'), ...playback.shortcomings]
    })
    mustNotFail(converted)
  }
}

const convertedVideo: VideoFormat = { codec: 'H264', profileLevelId: convertedProfile, parameterSets: '' }
const convertedAudio: AudioFormat = { codec: 'OPUS', clockRate: 48_000 }

function videoFormat({ codec, parameters }: RtspTrack): VideoFormat {
  if (codec === 'VP8') return { codec, profileLevelId: '', parameterSets: '' }
  const parameterSets = parameters.get('sprop-parameter-sets') ?? ''
  const fromSet = Buffer.from(parameterSets.slice(0, 8), 'base64').subarray(1, 4).toString('hex')
  const profileLevelId = (parameters.get('profile-level-id') ?? fromSet).toLowerCase()
  return {
    codec: codec === 'H265' ? 'H265' : 'H264',
    profileLevelId: /^[0-9a-f]{6}$/.test(profileLevelId) ? profileLevelId : '',
    parameterSets,
  }
}

/** Returns undefined for audio that is only recorded. */
function carriedAudio(track: RtspTrack, abilities: Abilities): AudioFormat | undefined {
  return codecSupportOf(track, abilities).carried ? audioFormat(track) : undefined
}

function audioFormat({ codec, clockRate }: RtspTrack): AudioFormat {
  if (codec === 'PCMU' || codec === 'PCMA' || codec === 'G722') return { codec, clockRate }
  return { codec: 'OPUS', clockRate: 48_000 }
}

/**
 * Number of pictures with a timestamp before the previous picture's that prove reordering, and length of the window in
 * pictures. A clock change of the camera produces only one such picture.
 */
const enoughEarlier = 4
const windowPictures = 100

/**
 * Detects B-frames from timestamps: only B-frames make pictures arrive in a different order than the display order
 * (RFC 6184, section 5.1: packets are in decoding order, timestamps are presentation times).
 */
export class PictureOrder {
  #sequence = -1
  #timestamp = -1
  #pictures = 0
  #earlier = 0
  #reordered = false

  get reordered(): boolean {
    return this.#reordered
  }

  /** Records a video packet. Called for every packet, in order of arrival. */
  note(packet: Buffer): void {
    if (this.#reordered) return
    const sequence = sequenceOf(packet)
    const timestamp = timestampOf(packet)
    // Over UDP, packets may be reordered.
    const follows = this.#sequence < 0 || sequenceDistance(this.#sequence, sequence) === 1
    this.#sequence = sequence
    if (timestamp === this.#timestamp) return
    if (follows && this.#timestamp >= 0 && (timestamp - this.#timestamp) >> 0 < 0) this.#earlier += 1
    this.#timestamp = timestamp
    this.#pictures += 1
    if (this.#earlier >= enoughEarlier) this.#reordered = true
    if (this.#pictures < windowPictures) return
    this.#pictures = 0
    this.#earlier = 0
  }
}
