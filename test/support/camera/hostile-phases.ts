import { changed, type HostileCase, methods, whilePlaying } from './hostile-case.ts'
import { interleaved, rtpPacket } from './hostile-camera.ts'

/** Misbehaviour at each phase of a call, and while the stream plays. */
export const hostilePhases: HostileCase[] = [
  // At each phase.
  ...methods.flatMap((method): HostileCase[] => [
    {
      what: `is silent at ${method}`,
      script: { [method]: () => {} },
      // DESCRIBE follows without an answer.
      outcome: method === 'OPTIONS' ? 'stays' : 'refused: timeout',
    },
    { what: `resets at ${method}`, script: { [method]: (caller) => caller.reset() }, outcome: 'refused: closed' },
    {
      what: `closes its side at ${method}`,
      script: { [method]: (caller) => void caller.socket.end() },
      outcome: 'refused: closed',
    },
    {
      what: `answers ${method} and resets`,
      script: {
        [method]: (caller, request) => {
          caller.answer(request)
          caller.reset()
        },
      },
      outcome: 'refused: closed',
    },
    {
      what: `sends a stray byte after the answer to ${method}`,
      script: { [method]: changed((text) => `${text}\u0001`) },
      outcome: 'stays',
    },
    {
      what: `sends packets of unknown channels at ${method}`,
      over: 'tcp',
      script: {
        [method]: (caller, request) => {
          for (const channel of [0, 7, 255]) caller.write(interleaved(channel, rtpPacket(1)))
          caller.usual(request)
        },
      },
      outcome: 'stays',
    },
  ]),
  { what: 'resets on connect', script: { connect: (caller) => caller.reset() }, outcome: 'refused: closed' },
  {
    what: 'closes its side on connect',
    script: { connect: (caller) => void caller.socket.end() },
    outcome: 'refused: closed',
  },
  // Requests of the camera itself.
  {
    what: 'sends requests itself',
    script: whilePlaying((caller) => {
      for (const method of ['OPTIONS', 'GET_PARAMETER', 'TEARDOWN', 'X'])
        caller.write(`${method} * RTSP/1.0\r\nCSeq: 1\r\n\r\n`)
    }),
    outcome: 'stays',
  },
  {
    what: 'sends a request without a CSeq',
    script: whilePlaying((caller) => caller.write('OPTIONS * RTSP/1.0\r\n\r\n')),
    outcome: 'stays',
  },
  {
    what: 'tears the session down and resets',
    script: whilePlaying((caller) => {
      caller.write('TEARDOWN * RTSP/1.0\r\nCSeq: 1\r\n\r\n')
      caller.after(30, () => caller.reset())
    }),
    outcome: 'lost: closed',
  },
  {
    what: 'floods unsolicited answers',
    script: whilePlaying((caller) => caller.flood(Buffer.from('RTSP/1.0 200 OK\r\nCSeq: 9999\r\n\r\n'.repeat(100)))),
    outcome: 'lost: protocol',
  },
  {
    what: 'floods empty lines',
    script: whilePlaying((caller) => caller.flood(Buffer.alloc(65_536, '\r\n'))),
    outcome: 'lost: protocol',
  },
]
