import type { FieldCase } from '../support/field/field-case.ts'
import { lines, pictureFormat, pictureSection, sessionLines } from '../support/field/field-camera.ts'
import type { FieldFilm } from '../support/field/field-film.ts'
import { marked, payloadsOf } from '../support/field/packing.ts'

const head = [...sessionLines, 'a=control:*']
const sound = ['m=audio 0 RTP/AVP 0', 'a=control:track2']

/** Changes the description of the picture. */
const as =
  (change: (text: string) => string) =>
  (film: FieldFilm): string =>
    lines(head, change(lines(pictureSection(film)).trimEnd()))

/** Descriptions of H.264 in forms near to those of the reports. */
const forms: Readonly<Record<string, (film: FieldFilm) => string>> = {
  'the codec is H.264': as((text) => text.replace('H264', 'H.264')),
  'the codec is AVC1': as((text) => text.replace('H264', 'AVC1')),
  'the codec is X-H264': as((text) => text.replace('H264', 'X-H264')),
  'the attributes are in upper case': as((text) =>
    text.replace('a=rtpmap', 'a=RTPMAP').replace('a=fmtp', 'a=Fmtp').replace('a=control', 'a=Control'),
  ),
  'the media type is in upper case': as((text) => text.replace('m=video', 'm=VIDEO')),
  'spaces stand around colons': as((text) =>
    text.replace('a=rtpmap:96', 'a=rtpmap: 96').replace('a=fmtp:96', 'a=fmtp: 96').replace('a=control:', 'a=control: '),
  ),
  'spaces stand before colons': as((text) =>
    text.replace('a=rtpmap:', 'a=rtpmap :').replace('a=control:', 'a=control :'),
  ),
  'tabs stand for spaces': as((text) =>
    text
      .replace('a=rtpmap:96 ', 'a=rtpmap:96\t')
      .replace('a=fmtp:96 ', 'a=fmtp:96\t')
      .replace('m=video 0 RTP/AVP ', 'm=video\t0\tRTP/AVP\t'),
  ),
  'the format stands before the map': (film) => {
    const [media = '', map = '', format = '', control = ''] = pictureSection(film)
    return lines(head, media, format, map, control)
  },
  'the map stands in the section of the sound': (film) => {
    const [media = '', map = '', format = '', control = ''] = pictureSection(film)
    return lines(head, media, format, control, sound, map)
  },
  'the map and the format stand before the first section': (film) => {
    const [media = '', map = '', format = '', control = ''] = pictureSection(film)
    return lines(head, map, format, media, control)
  },
  'the map has another payload type than the section': as((text) => text.replace(/(a=(?:rtpmap|fmtp)):96/g, '$1:97')),
  'the map stands twice': (film) => {
    const [media = '', map = '', format = '', control = ''] = pictureSection(film)
    return lines(head, media, map, map, format, format, control)
  },
  'the parameters stand in quotes': as((text) =>
    text.replace(/sprop-parameter-sets=(\S+)/, 'sprop-parameter-sets="$1"'),
  ),
  'the names of the parameters are in upper case': as((text) =>
    text.replace('sprop-parameter-sets', 'Sprop-Parameter-Sets').replace('packetization-mode', 'Packetization-Mode'),
  ),
  'the parameters are separated by commas': as((text) =>
    text.replace(/a=fmtp:96 .*/, (line) => line.replaceAll(';', ', ')),
  ),
  'the parameter sets have start codes': (film) =>
    lines(
      head,
      pictureSection(film, {
        format: `packetization-mode=1;sprop-parameter-sets=${film.sets
          .map((set) => Buffer.concat([Buffer.from([0, 0, 0, 1]), set]).toString('base64'))
          .join(',')}`,
      }),
    ),
  'the parameter sets are one text': (film) =>
    lines(
      head,
      pictureSection(film, {
        format: `packetization-mode=1;sprop-parameter-sets=${Buffer.concat(
          film.sets.flatMap((set, index) => (index === 0 ? [set] : [Buffer.from([0, 0, 0, 1]), set])),
        ).toString('base64')}`,
      }),
    ),
  'the parameter sets lack the padding of base64': as((text) => text.replace(/=+(?=,|\r|$)/gm, '')),
  'the packetization mode is missing': (film) =>
    lines(head, pictureSection(film, { format: pictureFormat(film).replace('packetization-mode=1;', '') })),
  'the packetization mode is 0, and units are fragmented': as((text) => text.replace('mode=1', 'mode=0')),
  'the clock is 90000.0': as((text) => text.replace('/90000', '/90000.0')),
  'the clock is 0': as((text) => text.replace('/90000', '/0')),
  'the section has a bandwidth, a rate and a size': (film) =>
    lines(
      head,
      pictureSection(film),
      'b=AS:5000',
      'a=framerate:25.000000',
      'a=framesize:96 192-112',
      'a=cliprect:0,0,112,192',
    ),
  'the protocol is UDP': as((text) => text.replace('RTP/AVP', 'UDP')),
  'the protocol is RTP/SAVP': as((text) => text.replace('RTP/AVP', 'RTP/SAVPF')),
  'each section has its own origin': (film) => lines(head, pictureSection(film), 'o=- 2 2 IN IP4 0.0.0.0', sound),
}

/** Parameter sets are in the description alone: what is not read of it is not shown. */
const needed = new Set([
  'the attributes are in upper case',
  'spaces stand around colons',
  'spaces stand before colons',
  'tabs stand for spaces',
  'the format stands before the map',
  'the map stands twice',
  'the parameters stand in quotes',
  'the names of the parameters are in upper case',
  'the parameters are separated by commas',
  'the parameter sets have start codes',
  'the parameter sets are one text',
  'the parameter sets lack the padding of base64',
])

export const formatCases: FieldCase[] = Object.entries(forms).map(
  ([quirk, description]): FieldCase => ({
    quirk: `description: ${quirk}`,
    source: 'near to descriptions in reports at go2rtc, MediaMTX, Frigate and ffmpeg',
    description,
    ...(needed.has(quirk) ? { packing: ({ units }) => marked(payloadsOf(units)) } : {}),
  }),
)
