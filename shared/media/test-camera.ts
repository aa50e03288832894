import { z } from 'zod'
import {
  type Behaviour,
  behaviourConflict,
  behaviourForm,
  behaviourTable,
  parseBehaviour,
} from './test-camera-behaviours.ts'

/** Codecs and logins of test cameras. */
export const testCameraCodecs = ['h264', 'h265', 'mjpeg'] as const
export type TestCameraCodec = (typeof testCameraCodecs)[number]
/** Pictures: a bundled clip, or a test card with clock, name and number of the picture. */
export const testCameraPictures = ['clip', 'card'] as const
export const testCameraSounds = ['none', 'aac', 'opus', 'pcma', 'pcmu'] as const
export type TestCameraSound = (typeof testCameraSounds)[number]
export const testCameraLogins = ['none', 'basic', 'digest', 'digest-sha256'] as const

/** Maximum number of test cameras of a site, and of connections to one camera. */
export const maxTestCameras = 50
export const maxTestCameraConnections = 64

/** First port for cameras without a port: below the ports that systems give to outgoing connections. */
export const firstTestCameraPort = 18_554

const behaviour = z
  .string()
  .max(80)
  .refine((text) => parseBehaviour(text) !== undefined, {
    error: ({ input }) => behaviourMistake(String(input)),
  })

/** Returns what is wrong with the text of a behaviour. */
function behaviourMistake(text: string): string {
  const known = behaviourTable.find(([name]) => name === text.split('=', 1)[0])
  return known === undefined
    ? `unknown behaviour; known are ${behaviourTable.map(([name]) => name).join(', ')}`
    : `the behaviour has the form ${behaviourForm(known[0])}`
}

const printable = /^[!-9;-~]*$/

/** Fields of a specification, before they are checked together. */
export const testCameraFields = z.strictObject({
  /** Name in lists, and path of the camera's address. */
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/),
  /** TCP port; 0: any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Whether other machines may connect; false: only this machine. */
  network: z.boolean().default(false),
  /** Whether an ONVIF device beside the camera answers searches; needs `network`. */
  onvif: z.boolean().default(false),
  codec: z.enum(testCameraCodecs).default('h264'),
  /** A card is coded as H.264 only. */
  picture: z.enum(testCameraPictures).default('clip'),
  sound: z.enum(testCameraSounds).default('none'),
  auth: z.enum(testCameraLogins).default('none'),
  user: z.string().max(64).regex(printable).default('admin'),
  password: z
    .string()
    .max(64)
    .regex(/^[ -~]*$/)
    .default('admin'),
  /** Behaviours as `name` or `name=value`. */
  behaviours: z.array(behaviour).max(behaviourTable.length).default([]),
})

/** Specification of a test camera: an RTSP server of the lab. */
export const testCameraSpecSchema = testCameraFields.superRefine((spec, context) => {
  const conflict = behaviourConflict(behavioursOf(spec), spec)
  if (conflict !== undefined) context.addIssue({ code: 'custom', path: ['behaviours'], message: conflict })
  if (spec.picture === 'card' && spec.codec !== 'h264')
    context.addIssue({ code: 'custom', path: ['picture'], message: 'a test card needs the codec h264' })
  // Searches and their answers name an address of the network.
  if (spec.onvif && !spec.network) context.addIssue({ code: 'custom', path: ['onvif'], message: 'onvif needs network' })
})
export type TestCameraSpec = z.output<typeof testCameraSpecSchema>

/** Returns the parsed behaviours of a specification. */
export function behavioursOf({ behaviours }: Pick<TestCameraSpec, 'behaviours'>): Behaviour[] {
  return behaviours.map(parseBehaviour).filter((each) => each !== undefined)
}

/** Last segment of the address of the smaller picture. */
export const smallPicture = 'sub'

/** Returns the address of a camera, without its login. */
export function testCameraUrl({ name, port }: Pick<TestCameraSpec, 'name' | 'port'>, host = '127.0.0.1'): string {
  return `rtsp://${host.includes(':') ? `[${host}]` : host}:${port}/${name}`
}

/** Returns the address of a camera's smaller picture. */
export function smallPictureUrl(spec: Pick<TestCameraSpec, 'name' | 'port'>): string {
  return `${testCameraUrl(spec)}/${smallPicture}`
}

/** Current state of a test camera. */
export const testCameraStateSchema = z.strictObject({
  name: z.string(),
  /** Reason why the camera does not listen, e.g. that its port is in use; null: it listens. */
  problem: z.enum(['port', 'failed']).nullable(),
  /** Port of the ONVIF services; 0: none. */
  onvif_port: z.int(),
  /** Time until which all logins are refused, in milliseconds since the epoch; 0: they are not. */
  locked_until: z.number(),
  /** Number of wrong logins since the start. */
  wrong_logins: z.int(),
  clients: z.array(
    z.strictObject({
      /** IP address. */
      address: z.string(),
      state: z.enum(['connected', 'playing', 'stalled']),
      /** Transport of its media; null: none is set up. */
      transport: z.enum(['tcp', 'udp']).nullable(),
      /** Time of the connection, in milliseconds since the epoch. */
      since: z.number(),
    }),
  ),
})
export type TestCameraState = z.output<typeof testCameraStateSchema>
