import type { FieldCase } from '../support/field/field-case.ts'
import { lines, pictureFormat, pictureSection, sessionLines } from '../support/field/field-camera.ts'
import type { FieldFilm } from '../support/field/field-film.ts'

const head = [...sessionLines, 'a=control:*']

const forms: Readonly<Record<string, (film: FieldFilm) => string>> = {
  'session lines are repeated in sections': (film) => {
    const [media = '', ...section] = pictureSection(film)
    return lines(head, media, 'c=IN IP4 0.0.0.0', 's=again', 'i=again', 't=0 0', section)
  },
  'there are media types of the maker': (film) =>
    lines(
      ...[head, pictureSection(film), 'm=application/VENDOR 0 RTP/AVP smart/1/90000', 'a=rtpmap:95 VENDOR/90000'],
      ...['a=control:track3', 'm=vana 0 RTP/AVP 108', 'a=rtpmap:108 video.analysis/90000/500', 'a=control:track5'],
    ),
  'the payload type of the sound is no number': (film) =>
    lines(head, pictureSection(film), 'm=audio 0 RTP/AVP (null)', 'a=rtpmap', 'a=control:track2'),
  'origin and connection are cut off': (film) =>
    lines('v=0', 'o=- 1 1 IN', 's=x', 'c=IN', pictureSection(film), 'a=fmtp:0 RTCP=0'),
  'there is nothing but the section': (film) => lines(pictureSection(film)),
  'lines end with LF, the last one with nothing': (film) =>
    lines(head, pictureSection(film)).replaceAll('\r\n', '\n').trimEnd(),
  'lines end with CR': (film) => lines(head, pictureSection(film)).replaceAll('\r\n', '\r'),
  'lines end with CR CR LF': (film) => lines(head, pictureSection(film)).replaceAll('\r\n', '\r\r\n'),
  'there are empty lines between sections': (film) => lines(head, '', pictureSection(film), ''),
  'lines begin with spaces': (film) => lines(head, pictureSection(film)).replace(/^(?=[am]=)/gm, ' '),
  'a byte order mark is before it': (film) => `\uFEFF${lines(head, pictureSection(film))}`,
  'the codec is in lower case, with spaces in the parameters': (film) =>
    lines(
      head,
      pictureSection(film, { format: pictureFormat(film).replaceAll('=', ' = ').replaceAll(';', ' ; ') }),
    ).replace('H264/90000', 'h264/90000 '),
  'the parameters end with a semicolon': (film) =>
    lines(head, pictureSection(film, { format: `${pictureFormat(film)};` })),
  'the parameters stand in two lines': (film) =>
    lines(
      head,
      pictureSection(film, { format: 'packetization-mode=1' }),
      `a=fmtp:96 sprop-parameter-sets=${film.sets.map((set) => set.toString('base64')).join(',')}`,
    ),
  'a metadata format stands beside the picture': (film) =>
    lines(head, pictureSection(film)).replace('RTP/AVP 96', 'RTP/AVP 96 98') + 'a=rtpmap:98 MetaData\r\n',
  'the clock is missing': (film) => lines(head, pictureSection(film)).replace('H264/90000', 'H264'),
  'the clock is followed by words': (film) => lines(head, pictureSection(film)).replace('H264/90000', 'H264/90000/1'),
  'the transport is RTP/AVPF, with a port': (film) =>
    lines(head, pictureSection(film)).replace('m=video 0 RTP/AVP', 'm=video 49170/2 RTP/AVPF'),
  'the transport is RTP/AVP/TCP': (film) => lines(head, pictureSection(film)).replace('RTP/AVP', 'RTP/AVP/TCP'),
  'the section of the picture has port 0 and spaces': (film) =>
    lines(head, pictureSection(film)).replace('m=video 0 RTP/AVP 96', 'm=video  0  RTP/AVP  96 '),
  'the session has a name of a thousand letters': (film) => lines(head, `i=${'x'.repeat(1_000)}`, pictureSection(film)),
  'the text is not UTF-8': (film) => lines(head, 'i=\u00c4\u00d6\u00ff caf\u00e9', pictureSection(film)),
  'there are two pictures': (film) =>
    lines(head, pictureSection(film), pictureSection(film, { control: 'track7' })).replace(
      /m=video 0 RTP\/AVP 96\r\n(?=[\s\S]*track7)(?![\s\S]*m=video)/,
      'm=video 0 RTP/AVP 96\r\n',
    ),
}

/** Forms of descriptions that RFC 8866 does not have. */
export const descriptionCases: FieldCase[] = [
  ...Object.entries(forms).map(
    ([quirk, description]): FieldCase => ({
      quirk: `description: ${quirk}`,
      source: 'descriptions in reports at go2rtc, MediaMTX, Frigate and ffmpeg',
      description,
    }),
  ),
  ...(
    [
      ['H266/90000', 'H.266'],
      ['VP9/90000', 'VP9'],
      ['AV1/90000', 'AV1'],
      ['MP2T/90000', 'MPEG transport stream'],
      ['X-VENDOR/90000', 'X-VENDOR'],
    ] as const
  ).map(
    ([map, name]): FieldCase => ({
      quirk: `the picture is ${name} alone`,
      source: 'encoders of other uses',
      description: () => lines(head, 'm=video 0 RTP/AVP 96', `a=rtpmap:96 ${map}`, 'a=control:track1'),
      expected: { refused: ['noUsableTrack'] },
    }),
  ),
]
