import type { Caller, HostileAnswer } from '../support/camera/hostile-camera.ts'
import { changed } from '../support/camera/hostile-case.ts'
import type { SeenRequest } from '../support/camera/scripted-camera.ts'
import type { FieldCase } from '../support/field/field-case.ts'
import { lines, pictureSection, sessionLines } from '../support/field/field-camera.ts'
import { changedHead } from './dialogue-cases.ts'

type Act = (caller: Caller, request: SeenRequest) => void

const granted =
  (headers: NonNullable<HostileAnswer['headers']>): Act =>
  (caller, request) =>
    caller.setUp(request, { headers })

/** Forms of the head of each answer. */
const heads: Readonly<Record<string, (head: string) => string>> = {
  'the version is RTSP/1.1': (head) => head.replace('RTSP/1.0', 'RTSP/1.1'),
  'the version is in lower case': (head) => head.replace('RTSP/1.0', 'rtsp/1.0'),
  'spaces and tabs stand around the status': (head) => head.replace(/^RTSP\/1.0 (\d+) /, 'RTSP/1.0 \t$1\t'),
  'a space stands before the version': (head) => ` ${head}`,
  'CSeq has zeroes before it': (head) => head.replace(/CSeq: /, 'CSeq: 000'),
  'CSeq has the method behind it': (head) => head.replace(/(CSeq: \d+)/, '$1 OPTIONS'),
  'CSeq is the one of the request before': (head) =>
    head.replace(/CSeq: (\d+)/, (_, number: string) => `CSeq: ${Number(number) - 1}`),
  'a field holds a zero byte': (head) => head.replace('\r\n', '\r\nServer: cam\0\0\r\n'),
  'a field holds letters of GBK': (head) => head.replace('\r\n', '\r\nServer: \u00c9\u00e3\u00cf\u00f1\r\n'),
  'the length has a unit': (head) => head.replace(/(Content-Length: \d+)/, '$1 bytes'),
  'the length has zeroes before it': (head) => head.replace(/Content-Length: /, 'Content-length:0'),
  'the length has a space before its colon': (head) => head.replace(/Content-Length: /, 'content-length : '),
  'the length stands twice, with another number': (head) =>
    head.replace(/(Content-Length: (\d+)\r\n)/, '$1Content-Length: 0\r\n'),
  'the type of the description is text/plain': (head) => head.replace('application/sdp', 'text/plain'),
  'the type of the description is in upper case': (head) => head.replace('application/sdp', 'APPLICATION/SDP'),
}

/** Redirections that name their target in other forms; URL stands for the other camera. */
const locations: Readonly<Record<string, (url: string) => Record<string, string>>> = {
  'a field in lower case': (url) => ({ location: url }),
  'a login of its own': (url) => ({ Location: url.replace('://', '://admin:admin@') }),
  'the scheme in upper case': (url) => ({ Location: url.replace('rtsp', 'RTSP') }),
  'quotes around it': (url) => ({ Location: `"${url}"` }),
  'angle brackets around it': (url) => ({ Location: `<${url}>` }),
  'parameters behind it': (url) => ({ Location: `${url} ;seq=1` }),
  'a body of HTML': (url) => ({ Location: url, 'Content-Type': 'text/html' }),
}

const transports: Readonly<Record<string, string>> = {
  'a single channel': 'RTP/AVP/TCP;unicast;interleaved=0',
  'the channels first': 'interleaved=0-1;RTP/AVP/TCP;unicast',
  'the channels with a comma': 'RTP/AVP/TCP;unicast;interleaved=0,1',
  'the channels twice': 'RTP/AVP/TCP;unicast;interleaved=0-1;interleaved=2-3',
  'quotes around the channels': 'RTP/AVP/TCP;unicast;interleaved="0-1"',
  'UDP beside the channels': 'RTP/AVP/UDP;unicast;interleaved=0-1;server_port=6970-6971',
  'a second specification': 'RTP/AVP/TCP;unicast;interleaved=0-1,RTP/AVP;unicast;client_port=5000-5001',
  'nothing but the profile': 'RTP/AVP/TCP',
}

/** Forms of answers that are near to those of the reports. */
export const answerCases: FieldCase[] = [
  ...[400, 401, 403, 500, 503].map(
    (status): FieldCase => ({
      quirk: `OPTIONS is refused with ${status}, without a challenge`,
      source: 'small encoders',
      script: { OPTIONS: (caller, request) => caller.answer(request, { status }) },
    }),
  ),
  ...Object.entries(heads).map(
    ([quirk, change]): FieldCase => ({ quirk, source: 'hand-written servers', rewrite: changedHead(change) }),
  ),
  {
    quirk: 'the answer to DESCRIBE alone has no CSeq',
    source: 'cameras that send a file as the answer',
    script: { DESCRIBE: changed((text) => text.replace(/CSeq: .*\r\n/, '')) },
  },
  {
    quirk: 'PLAY is not answered, and the media comes',
    source: 'encoders that start in the place of an answer',
    script: { PLAY: (caller) => caller.stream() },
  },
  ...[404, 405, 406, 415, 451, 501, 551].map(
    (status): FieldCase => ({
      quirk: `PLAY with a Range is answered ${status}`,
      source: 'live encoders',
      script: {
        PLAY: (caller, request) =>
          request.headers.has('range') ? caller.answer(request, { status }) : caller.usual(request),
      },
    }),
  ),
  ...[400, 406, 415, 451, 500, 501, 503, 551].map(
    (status): FieldCase => ({
      quirk: `SETUP over TCP is refused with ${status}`,
      source: 'old encoders that know UDP alone',
      over: 'udp',
      script: {
        SETUP: (caller, request) =>
          caller.refusesTransport(request) ? caller.answer(request, { status }) : caller.setUp(request),
      },
    }),
  ),
  ...Object.entries(transports).map(
    ([what, transport]): FieldCase => ({
      quirk: `the transport is ${what}`,
      source: 'embedded servers',
      script: { SETUP: granted({ Transport: transport }) },
    }),
  ),
  ...(
    [
      ['a space within', '12 34'],
      ['fields without values', ';;77;timeout'],
      ['a timeout with a unit', '77;timeout=60s'],
      ['a comma in the place of the semicolon', '77,timeout=60'],
    ] as const
  ).map(
    ([what, session]): FieldCase => ({
      quirk: `the session has ${what}`,
      source: 'hand-written servers',
      script: { SETUP: granted({ Session: session }) },
    }),
  ),
  ...Object.entries(locations).map(
    ([what, headers]): FieldCase => ({
      quirk: `the redirection has ${what}`,
      source: 'recorders and media platforms',
      script: (elsewhere) => ({
        DESCRIBE: (caller, request) =>
          caller.answer(request, { status: 302, headers: headers(elsewhere), body: '<html></html>' }),
      }),
    }),
  ),
  {
    quirk: 'SETUP is answered 302',
    source: 'media platforms that choose a server late',
    script: (elsewhere) => ({
      SETUP: (caller, request) => caller.answer(request, { status: 302, headers: { Location: elsewhere } }),
    }),
  },
  {
    quirk: 'PLAY is answered 302',
    source: 'media platforms that choose a server late',
    script: (elsewhere) => ({
      PLAY: (caller, request) => caller.answer(request, { status: 302, headers: { Location: elsewhere } }),
    }),
  },
]

const controls: readonly (readonly [what: string, control: (url: string) => string, path: string])[] = [
  ['has a dot before it', () => './track1', '/live/track1'],
  ['has a slash behind it', () => 'track1/', '/live/track1/'],
  ['has quotes around it', () => '"track1"', '/live/track1'],
  ['is an absolute URL in upper case', (url) => `RTSP${url.slice(4)}/track1`, '/live/track1'],
  ['is a URL without a scheme', (url) => `${url.slice('rtsp://'.length)}/track1`, '/live/track1'],
  ['is a URL without a host', () => 'rtsp:///live/track1', '/live/track1'],
  ['is a URL with a star', () => 'rtsp://*/live/track1', '/live/track1'],
  ['is a URL without its port', () => 'rtsp://127.0.0.1/live/track1', '/live/track1'],
  [
    'is a URL with the name of the camera',
    (url) => `rtsp://camera.local:${URL.parse(url)?.port ?? ''}/live/track1`,
    '/live/track1',
  ],
  ['repeats the path', () => 'live/track1', '/live/track1'],
  ['repeats the path with a slash', () => '/live/track1', '/live/track1'],
  ['begins with an ampersand', () => '&track=1', '/live&track=1'],
  ['has two slashes', () => '//track1', '/live/track1'],
]

/** Forms of addresses of tracks that are near to those of the reports. */
export const controlCases: FieldCase[] = [
  ...controls.map(
    ([what, control, path]): FieldCase => ({
      quirk: `the control ${what}`,
      source: 'cameras and proxies',
      description: (film, url) => lines(sessionLines, 'a=control:*', pictureSection(film, { control: control(url) })),
      script: {
        SETUP: (caller, request) => {
          const url = URL.parse(request.url)
          const isHere = url?.hostname === '127.0.0.1' && Number(url.port) === caller.socket.localPort
          if (isHere && url.pathname + url.search === path) caller.setUp(request)
          else caller.answer(request, { status: 404 })
        },
      },
    }),
  ),
  ...(
    [
      ['angle brackets', '<rtsp://127.0.0.1:PORT/base/>'],
      ['quotes', '"rtsp://127.0.0.1:PORT/base/"'],
      ['one slash behind the scheme', 'rtsp:/127.0.0.1:PORT/base/'],
      ['no port', 'rtsp://127.0.0.1/base/'],
      ['the name localhost', 'rtsp://localhost:PORT/base/'],
      ['another scheme of players', 'rtspt://127.0.0.1:PORT/base/'],
      ['a port of 0', 'rtsp://127.0.0.1:0/base/'],
    ] as const
  ).map(
    ([what, base]): FieldCase => ({
      quirk: `Content-Base has ${what}`,
      source: 'cameras and proxies',
      description: (film) => lines(sessionLines, 'a=control:*', pictureSection(film)),
      script: {
        DESCRIBE: (caller, request) =>
          caller.answer(request, {
            headers: { 'Content-Base': base.replace('PORT', String(caller.socket.localPort ?? 0)) },
          }),
        SETUP: (caller, request) => {
          const url = URL.parse(request.url)
          const isHere = Number(url?.port) === caller.socket.localPort
          if (isHere && url?.pathname === '/base/track1') caller.setUp(request)
          else caller.answer(request, { status: 404 })
        },
      },
    }),
  ),
]
