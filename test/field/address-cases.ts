import type { Caller } from '../support/camera/hostile-camera.ts'
import type { SeenRequest } from '../support/camera/scripted-camera.ts'
import type { FieldCase } from '../support/field/field-case.ts'
import type { FieldFilm } from '../support/field/field-film.ts'
import { lines, pictureSection, sessionLines } from '../support/field/field-camera.ts'

/** Refuses each SETUP but that of one URL. */
const onlyAt =
  (path: string, status = 404) =>
  (caller: Caller, request: SeenRequest): void => {
    const url = URL.parse(request.url)
    if (url !== null && url.pathname + url.search === path) caller.setUp(request)
    else caller.answer(request, { status })
  }

const portOf = (caller: Caller): number => caller.socket.localPort ?? 0

const described =
  (control: string, session = 'a=control:*') =>
  (film: FieldFilm): string =>
    lines(sessionLines, session, pictureSection(film, { control }))

/** Describes with a Content-Base. @param base with PORT in the place of the port */
const based =
  (base: string | readonly string[], field = 'Content-Base') =>
  (caller: Caller, request: SeenRequest): void => {
    const put = (text: string): string => text.replace('PORT', String(portOf(caller)))
    caller.answer(request, { headers: { [field]: typeof base === 'string' ? put(base) : base.map(put) } })
  }

/** Where the tracks of a camera are. */
export const addressCases: FieldCase[] = [
  {
    quirk: 'the control begins with a slash, below the stream',
    source: 'report at go2rtc: a=control:/trackID=0',
    description: described('/trackID=0'),
    script: { SETUP: onlyAt('/live/trackID=0') },
  },
  {
    quirk: 'the control is a path of the host',
    source: 'cameras that resolve as RFC 3986 has it',
    description: described('/media/track1'),
    script: { SETUP: onlyAt('/media/track1') },
  },
  {
    quirk: 'the control is absolute, with a login',
    source: 'recorders that repeat the address of the operator',
    description: (film, url) =>
      lines(sessionLines, pictureSection(film, { control: `${url.replace('rtsp://', 'rtsp://admin:x@')}/track1` })),
    script: { SETUP: onlyAt('/live/track1') },
  },
  {
    quirk: 'the control is absolute, with the inner address of a camera behind NAT',
    source: 'report at VLC: rtsp://192.168.1.10/…/trackID=1',
    description: (film) => lines(sessionLines, pictureSection(film, { control: 'rtsp://10.9.8.7:554/live/track1' })),
    script: {
      SETUP: (caller, request) =>
        request.url.includes('10.9.8.7') ? caller.answer(request, { status: 404 }) : caller.setUp(request),
    },
  },
  {
    quirk: 'the control is a query',
    source: 'encoders: a=control:?ctype=video',
    description: described('?ctype=video'),
    script: { SETUP: onlyAt('/live/?ctype=video') },
  },
  {
    quirk: 'the track lies before the query of the address',
    source: 'report: rtsp://host/live?channel=1, track at /live/track1?channel=1',
    path: '/live?channel=1&stream=0',
    description: described('track1'),
    script: { SETUP: onlyAt('/live/track1?channel=1&stream=0', 454) },
  },
  {
    quirk: 'the track lies behind the query of the address',
    source: 'Dahua: /cam/realmonitor?channel=1&subtype=0/trackID=0',
    path: '/cam/realmonitor?channel=1&subtype=0',
    description: described('trackID=0'),
    script: { SETUP: onlyAt('/cam/realmonitor?channel=1&subtype=0/trackID=0') },
  },
  {
    quirk: 'the control takes the place of the last segment',
    source: 'servers that resolve as web pages do',
    path: '/streams/main.sdp',
    description: described('track1'),
    script: { SETUP: onlyAt('/streams/track1') },
  },
  {
    quirk: 'there is no control',
    source: 'encoders with one track',
    description: (film) => lines(sessionLines, pictureSection(film).slice(0, -1)),
    script: { SETUP: onlyAt('/live') },
  },
  {
    quirk: 'the control is empty, or a star',
    source: 'encoders with one track',
    description: described('*', 'a=control:'),
    script: { SETUP: onlyAt('/live') },
  },
  {
    quirk: 'the control holds spaces and letters that are no ASCII',
    source: 'cameras with translated names',
    description: described('通道 1'),
  },
  ...(
    [
      ['rtsp://127.0.0.1:PORT/base/', 'an absolute URL elsewhere'],
      ['rtsp://127.0.0.1:PORT/base', 'an absolute URL without a slash'],
      ['rtsp://admin:secret@127.0.0.1:PORT/base/', 'an absolute URL with a login'],
      ['127.0.0.1:PORT/base/', 'a host without a scheme'],
      ['//127.0.0.1:PORT/base/', 'a host behind two slashes'],
      ['/base/', 'a path of the host'],
      ['RTSP://127.0.0.1:PORT/base/', 'an absolute URL in upper case'],
      ['rtsp://127.0.0.1:PORT/base/, rtsp://127.0.0.1:PORT/base/', 'an absolute URL, twice in one field'],
    ] as const
  ).map(
    ([base, what]): FieldCase => ({
      quirk: `Content-Base is ${what}`,
      source: 'cameras and proxies; reports at ffmpeg, go2rtc and VLC',
      description: described('track1'),
      script: { DESCRIBE: based(base), SETUP: onlyAt('/base/track1') },
    }),
  ),
  ...(
    [
      ['', 'empty'],
      ['rtsp://0.0.0.0:PORT/live/', 'an address of nobody'],
      ['rtsp://192.168.1.108:554/live/', 'the inner address of a camera behind NAT'],
      ['nonsense', 'nonsense'],
      ['http://127.0.0.1/live/', 'of another scheme'],
    ] as const
  ).map(
    ([base, what]): FieldCase => ({
      quirk: `Content-Base is ${what}`,
      source: 'cameras behind NAT, and encoders with a fixed answer text',
      description: described('track1'),
      script: {
        DESCRIBE: based(base),
        SETUP: (caller, request) =>
          request.url === `${caller.url}/track1` ? caller.setUp(request) : caller.answer(request, { status: 404 }),
      },
    }),
  ),
  {
    quirk: 'the base is in Content-Location',
    source: 'servers that follow HTTP',
    description: described('track1'),
    script: { DESCRIBE: based('rtsp://127.0.0.1:PORT/located/', 'Content-Location'), SETUP: onlyAt('/located/track1') },
  },
  {
    quirk: 'Content-Base is repeated, with one that is wrong behind it',
    source: 'proxies that add their own',
    description: described('track1'),
    script: {
      DESCRIBE: based(['rtsp://127.0.0.1:PORT/base/', 'rtsp://127.0.0.1:PORT/proxy/']),
      SETUP: onlyAt('/base/track1'),
    },
  },
  {
    quirk: 'the base is in the control attribute of the session',
    source: 'report: a=control:rtsp://host/media/real/',
    description: (film, url) =>
      lines(sessionLines, `a=control:${new URL('/media/real/', url).href}`, pictureSection(film)),
    script: { SETUP: onlyAt('/media/real/track1') },
  },
  {
    quirk: 'the control attribute of the session is relative',
    source: 'recorders: a=control:channel1',
    description: described('track1', 'a=control:channel1'),
    script: {
      PLAY: (caller, request) =>
        /\/live(?:\/channel1)?\/?$/.test(request.url) ? caller.usual(request) : caller.answer(request, { status: 404 }),
    },
  },
  // Redirections.
  ...[301, 302, 303, 305, 307, 308].map(
    (status): FieldCase => ({
      quirk: `DESCRIBE is answered ${status} with another port`,
      source: 'recorders and media platforms',
      script: (elsewhere) => ({
        DESCRIBE: (caller, request) => caller.answer(request, { status, headers: { Location: elsewhere }, body: '' }),
      }),
    }),
  ),
  {
    quirk: 'OPTIONS is answered 302',
    source: 'load balancers of media platforms',
    script: (elsewhere) => ({
      OPTIONS: (caller, request) => caller.answer(request, { status: 302, headers: { Location: elsewhere } }),
    }),
  },
  {
    quirk: 'DESCRIBE is answered 302 with a path of the same host',
    source: 'recorders that sort channels',
    script: {
      DESCRIBE: (caller, request) =>
        request.url.endsWith('/live')
          ? caller.answer(request, { status: 302, headers: { Location: '/channel/1' }, body: '' })
          : caller.usual(request),
    },
  },
  {
    quirk: 'DESCRIBE is answered 302 to itself for ever',
    source: 'platforms that are set up wrongly',
    script: {
      DESCRIBE: (caller, request) =>
        caller.answer(request, { status: 302, headers: { Location: caller.url }, body: '' }),
    },
    expected: { refused: ['redirected'] },
  },
  {
    quirk: 'DESCRIBE is answered 302 with a scheme that is no RTSP',
    source: 'web servers on the port',
    script: {
      DESCRIBE: (caller, request) =>
        caller.answer(request, { status: 302, headers: { Location: 'http://127.0.0.1/' }, body: '' }),
    },
    expected: { refused: ['redirected'] },
  },
  {
    quirk: 'the login goes on to another port of the same host',
    source: 'recorders with one process a channel',
    login: { name: 'admin', password: 'secret' },
    script: (elsewhere) => ({
      DESCRIBE: (caller, request) =>
        request.headers.has('authorization')
          ? caller.answer(request, { status: 302, headers: { Location: elsewhere }, body: '' })
          : caller.answer(request, { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="r"' }, body: '' }),
    }),
  },
]
