import type { Caller, HostileAnswer } from '../support/camera/hostile-camera.ts'
import type { SeenRequest } from '../support/camera/scripted-camera.ts'
import type { FieldCase } from '../support/field/field-case.ts'

type Act = (caller: Caller, request: SeenRequest) => void

/** Answers PLAY as given, and plays. */
const playing =
  (more: HostileAnswer): Act =>
  (caller, request) => {
    caller.answer(request, more)
    caller.stream()
  }

/** Sessions, transports, and requests from PLAY on that RFC 2326 does not have. */
export const sessionCases: FieldCase[] = [
  {
    quirk: 'the session has no timeout',
    source: 'most small cameras',
    script: { SETUP: (caller, request) => caller.setUp(request, { headers: { Session: '77' } }) },
  },
  {
    quirk: 'the timeout of the session is 0',
    source: 'cameras that mean: none',
    script: { SETUP: (caller, request) => caller.setUp(request, { headers: { Session: '77;timeout=0' } }) },
  },
  {
    quirk: 'the session is written with spaces, quotes and words',
    source: 'hand-written servers',
    script: {
      SETUP: (caller, request) => caller.setUp(request, { headers: { Session: ' "ab:c-1.$_+" ; timeout = "60" ; x' } }),
    },
  },
  {
    quirk: 'each SETUP is answered with another session, and PLAY takes the first',
    source: 'report at Frigate: 454 for PLAY',
    sound: {
      section: ['m=audio 0 RTP/AVP 0', 'a=control:track2'],
      ...{ payloadType: 0, everyMs: 20, ticks: 160, recordedAs: 'flac' },
      payload: () => Buffer.alloc(160, 0x90),
    },
    script: {
      SETUP: (caller, request) => {
        const number = caller.requests.filter(({ method }) => method === 'SETUP').length
        caller.setUp(request, { headers: { Session: `session-${number};timeout=60` } })
      },
      PLAY: (caller, request) =>
        request.headers.get('session')?.startsWith('session-1') === true
          ? caller.usual(request)
          : caller.answer(request, { status: 454 }),
    },
  },
  {
    quirk: 'the session changes with PLAY',
    source: 'proxies that open the camera late',
    script: { PLAY: playing({ headers: { Session: 'another;timeout=60' } }) },
  },
  {
    quirk: 'SETUP names no session',
    source: 'cameras that serve one client',
    script: { SETUP: (caller, request) => caller.setUp(request, { headers: { Session: undefined } }) },
  },
  // Transport of the answer.
  {
    quirk: 'SETUP names no transport',
    source: 'embedded servers',
    script: { SETUP: (caller, request) => caller.setUp(request, { headers: { Transport: undefined } }) },
  },
  {
    quirk: 'the transport is written with spaces, other letters and fields',
    source: 'recorders',
    script: {
      SETUP: (caller, request) =>
        caller.setUp(request, {
          headers: { Transport: 'rtp/avp/tcp; Unicast; Interleaved = 0 - 1 ; ssrc=00001234;mode="play"' },
        }),
    },
  },
  // PLAY.
  ...(
    [
      [457, 'any Range'],
      [501, 'any Range'],
      [400, 'any Range'],
    ] as const
  ).map(
    ([status, what]): FieldCase => ({
      quirk: `PLAY with ${what} is answered ${status}`,
      source: 'live encoders',
      script: {
        PLAY: (caller, request) =>
          request.headers.has('range') ? caller.answer(request, { status }) : caller.usual(request),
      },
    }),
  ),
  {
    quirk: 'PLAY is known for the URL of the track only (460)',
    source: 'servers with one track',
    script: {
      PLAY: (caller, request) =>
        request.url.endsWith('/track1') ? caller.usual(request) : caller.answer(request, { status: 460 }),
    },
  },
  {
    quirk: 'PLAY of the stream is answered 455, and of the track 200',
    source: 'cameras that aggregate nothing',
    script: {
      PLAY: (caller, request) =>
        /\/track[^/]*$/.test(request.url) ? caller.usual(request) : caller.answer(request, { status: 455 }),
    },
  },
  {
    quirk: 'RTP-Info is nonsense',
    source: 'cameras with a fixed answer text',
    script: {
      PLAY: playing({ headers: { 'RTP-Info': 'url=rtsp://0.0.0.0/trackID=;seq=;rtptime=-1,,', Range: 'npt=now' } }),
    },
  },
  // Keep-alive and end.
  {
    quirk: 'GET_PARAMETER is named and refused, and the session lasts two seconds',
    source: 'cameras that list every method of the RFC',
    playsMs: 5_000,
    script: {
      SETUP: (caller, request) => caller.setUp(request, { headers: { Session: '5;timeout=2' } }),
      GET_PARAMETER: (caller, request) => caller.answer(request, { status: 451 }),
    },
  },
  {
    quirk: 'keep-alives are answered 454 while media flows',
    source: 'cameras that forget sessions and go on sending',
    playsMs: 5_000,
    script: {
      SETUP: (caller, request) => caller.setUp(request, { headers: { Session: '5;timeout=2' } }),
      GET_PARAMETER: (caller, request) => caller.answer(request, { status: 454 }),
    },
  },
  {
    quirk: 'keep-alives are not answered',
    source: 'cameras that watch receiver reports only',
    playsMs: 5_000,
    script: {
      SETUP: (caller, request) => caller.setUp(request, { headers: { Session: '5;timeout=2' } }),
      GET_PARAMETER: () => {},
    },
  },
  {
    quirk: 'TEARDOWN is not answered',
    source: 'cameras that close, or do not',
    script: { TEARDOWN: () => {} },
  },
]
