import { type Act, type HostileCase, setUp } from './hostile-case.ts'
import { h264Description } from './scripted-camera.ts'

const transport = (text: string): Act => setUp(() => ({ headers: { Transport: text } }))
const session = (text: string | undefined): Act => setUp(() => ({ headers: { Session: text } }))
const twoTracks = `${h264Description}m=audio 0 RTP/AVP 0\r\na=control:track2\r\n`

const cases: HostileCase[] = [
  // Sessions.
  { what: 'names no session', script: { SETUP: session(undefined) }, outcome: 'stays' },
  {
    what: 'names another session each time',
    script: { SETUP: setUp((caller) => ({ headers: { Session: `s${caller.requests.length}` } })) },
    description: twoTracks,
    outcome: 'stays',
  },
  { what: 'names a session of 7 KB', script: { SETUP: session('s'.repeat(7_000)) }, outcome: 'refused: protocol' },
  { what: 'names a session with spaces in it', script: { SETUP: session('a b c') }, outcome: 'stays' },
  {
    what: 'names a session with a lone carriage return',
    script: { SETUP: session('a\rPLAY * RTSP/1.0') },
    outcome: 'refused: protocol',
  },
  ...['0', '-1', '1e99', 'soon', '999999', '0.0001'].map(
    (timeout): HostileCase => ({
      what: `names a timeout of ${timeout}`,
      script: { SETUP: session(`1;timeout=${timeout}`) },
      outcome: 'stays',
    }),
  ),
  // Transports.
  ...['5000-0', '0-0', '70000-70001', '99999', '-1', '65535', 'x', '1-1'].map(
    (ports): HostileCase => ({
      what: `names server ports ${ports}`,
      over: 'udp',
      script: { SETUP: transport(`RTP/AVP;unicast;server_port=${ports}`) },
      outcome: 'stays',
    }),
  ),
  {
    what: 'names the ports of the client as its own',
    over: 'udp',
    script: {
      SETUP: setUp((caller) => ({
        headers: { Transport: `RTP/AVP;unicast;server_port=${caller.clientPorts?.join('-') ?? ''}` },
      })),
    },
    outcome: 'stays',
  },
  {
    what: 'names another source address',
    over: 'udp',
    script: { SETUP: transport('RTP/AVP;unicast;source=127.0.0.9;server_port=53-53') },
    outcome: 'stays',
  },
  {
    what: 'names a host name as source address',
    over: 'udp',
    script: { SETUP: transport('RTP/AVP;unicast;source=nas.invalid;server_port=5000-5001') },
    outcome: 'stays',
  },
  {
    what: 'names another destination address',
    script: {
      SETUP: setUp((_caller, request) => ({
        headers: { Transport: `${request.headers.get('transport') ?? ''};destination=127.0.0.9` },
      })),
    },
    outcome: 'stays',
  },
  {
    what: 'names no transport',
    script: { SETUP: setUp(() => ({ headers: { Transport: undefined } })) },
    outcome: 'stays',
  },
  {
    what: 'names a transport of 7 KB',
    script: { SETUP: transport(`RTP/AVP/TCP;${'x=;'.repeat(2_300)}`) },
    outcome: 'refused: protocol',
  },
  ...['0-0', '256-257', '-1-0', '1e1-2', '300'].map(
    (channels): HostileCase => ({
      what: `names interleaved channels ${channels}`,
      over: 'tcp',
      script: { SETUP: transport(`RTP/AVP/TCP;unicast;interleaved=${channels}`) },
      outcome: 'stays',
    }),
  ),
  {
    what: 'gives both tracks one channel',
    over: 'tcp',
    description: twoTracks,
    script: { SETUP: transport('RTP/AVP/TCP;unicast;interleaved=0-1') },
    outcome: 'stays',
  },
]

/** Invalid answers to SETUP. These cases last: the effect of a wrong destination shows later than the answer. */
export const hostileTransports = cases.map((each) => ({ ...each, lasts: each.outcome === 'stays' }))
