import type { TestCameraSound, TestCameraSpec } from '../../../shared/media/test-camera.ts'
import type { OddDescription } from '../../../shared/media/test-camera-behaviours.ts'
import type { ActiveBehaviours } from './active-behaviours.ts'
import type { PictureClip } from './clip.ts'

/** Payload types of picture and sound. Types below 96 are static (RFC 3551, section 6). */
export const pictureType = { h264: 96, h265: 96, mjpeg: 26 } as const
export const soundType = { aac: 97, opus: 97, pcma: 8, pcmu: 0 } as const

/** Control attributes of the tracks. */
export const trackNames = { video: 'track1', audio: 'track2' } as const

/** Format lines of sounds. The `config` of AAC is its AudioSpecificConfig: AAC-LC, 16 kHz, one channel. */
const soundFormats: Readonly<Record<Exclude<TestCameraSound, 'none'>, readonly string[]>> = {
  aac: [
    'a=rtpmap:97 MPEG4-GENERIC/16000/1',
    'a=fmtp:97 streamtype=5;profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=1408',
  ],
  opus: ['a=rtpmap:97 opus/48000/2'],
  pcma: ['a=rtpmap:8 PCMA/8000'],
  pcmu: ['a=rtpmap:0 PCMU/8000'],
}

/** Sections of a description, each a list of lines. */
interface Sections {
  session: string[]
  video: string[]
  audio: string[]
  other: string[]
}

/**
 * Returns the SDP of a test camera (RFC 8866).
 * @param clip large or small picture
 * @param base URL of the stream, which ends with a slash
 */
export function cameraDescription(
  spec: TestCameraSpec,
  behaviours: ActiveBehaviours,
  clip: PictureClip,
  base: string,
): string {
  const sections: Sections = {
    session: ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=Roomdesk lab: test camera', 't=0 0', 'a=control:*'],
    video: pictureSection(spec, behaviours, clip),
    audio: soundSection(spec),
    other: [],
  }
  const form = behaviours.description
  if (form === undefined) return linesOf(sections)
  const odd = oddForms[form as OddDescription]
  odd.sections?.(sections, base)
  const text = linesOf(sections)
  return odd.text?.(text) ?? text
}

function linesOf({ session, video, audio, other }: Sections): string {
  return [...session, ...video, ...audio, ...other, ''].join('\r\n')
}

function pictureSection({ codec }: TestCameraSpec, behaviours: ActiveBehaviours, clip: PictureClip): string[] {
  const type = pictureType[codec]
  const control = `a=control:${trackNames.video}`
  const first = [`m=video 0 RTP/AVP ${type}`, 'c=IN IP4 0.0.0.0']
  const rate = `a=framerate:${clip.rate}`
  if (codec === 'mjpeg') return [...first, rate, control]
  const sets = behaviours.has('no-sets-in-description') ? [] : clip.sets
  const format = codec === 'h264' ? h264Format(sets) : h265Format(sets)
  const parameters = format === '' ? [] : [`a=fmtp:${type} ${format}`]
  return [...first, `a=rtpmap:${type} ${codec.toUpperCase()}/90000`, ...parameters, rate, control]
}

function h264Format(sets: readonly Buffer[]): string {
  const [sps] = sets
  if (sps === undefined) return 'packetization-mode=1'
  const coded = sets.map((set) => set.toString('base64')).join(',')
  return `packetization-mode=1;profile-level-id=${sps.toString('hex', 1, 4)};sprop-parameter-sets=${coded}`
}

function h265Format(sets: readonly Buffer[]): string {
  return ['vps', 'sps', 'pps']
    .flatMap((name, index) => (sets[index] === undefined ? [] : [`sprop-${name}=${sets[index].toString('base64')}`]))
    .join(';')
}

function soundSection({ sound }: TestCameraSpec): string[] {
  if (sound === 'none') return []
  return [`m=audio 0 RTP/AVP ${soundType[sound]}`, ...soundFormats[sound], `a=control:${trackNames.audio}`]
}

/** Changes of a known odd camera to the sections, or the whole text, of its description. */
interface OddForm {
  sections?: (sections: Sections, base: string) => void
  text?: (text: string) => string
}

const ofMedia = (sections: Sections, change: (line: string) => string): void => {
  sections.video = sections.video.map(change)
  sections.audio = sections.audio.map(change)
}

const oddForms: Readonly<Record<OddDescription, OddForm>> = {
  'leading-slash': { sections: (all) => ofMedia(all, (line) => line.replace('a=control:', 'a=control:/')) },
  'base-in-control': {
    sections: (all, base) => {
      all.session = all.session.map((line) => line.replace('a=control:*', `a=control:${base}`))
    },
  },
  'media-sections-only': {
    sections: (all) => {
      all.session = []
    },
  },
  'line-feeds-only': { text: (text) => text.replaceAll('\r\n', '\n').trimEnd() },
  'repeated-lines': {
    sections: (all) => {
      all.video.splice(1, 0, 's=again', 'i=again', 't=0 0')
    },
  },
  'formats-elsewhere': {
    sections: (all) => {
      const formats = all.video.filter((line) => line.startsWith('a=fmtp:'))
      all.video = all.video.filter((line) => !formats.includes(line))
      all.other.push(...formats)
    },
  },
  'several-formats': {
    sections: (all) => {
      all.video = all.video.map((line) => line.replace(/^(m=video 0 RTP\/AVP) /, '$1 98 '))
      all.video.push('a=rtpmap:98 MP4V-ES/90000')
    },
  },
  'spaced-parameters': {
    sections: (all) => {
      ofMedia(all, (line) => (line.startsWith('a=fmtp:') ? line.replaceAll(';', ' ; ') : line))
    },
  },
  'no-clock-rate': { sections: (all) => ofMedia(all, (line) => line.replace(/^(a=rtpmap:96 \w+)\/90000$/, '$1')) },
  'all-send-only': {
    sections: (all) => {
      all.video.push('a=sendonly')
      if (all.audio.length > 0) all.audio.push('a=sendonly')
    },
  },
  'metadata-section': {
    sections: (all) => {
      all.other.push('m=application 0 RTP/AVP 107', 'a=rtpmap:107 vnd.onvif.metadata/90000', 'a=control:track3')
    },
  },
  'back-channel': {
    sections: (all) => {
      all.video.push('a=recvonly')
      if (all.audio.length > 0) all.audio.push('a=recvonly')
      all.other.push('m=audio 0 RTP/AVP 0', 'a=rtpmap:0 PCMU/8000', 'a=sendonly', 'a=control:track4')
    },
  },
}
