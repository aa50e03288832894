/** Parameter of a behaviour: a number in a range, or one of several names. */
export type BehaviourParameter =
  | { kind: 'number'; unit: 's' | 'ms' | 'bytes' | 'logins'; min: number; max: number; default: number }
  | { kind: 'choice'; choices: readonly string[] }

/** Requirement of a behaviour on its camera: a login, or a picture in NAL units (H.264, H.265). */
type BehaviourNeed = 'login' | 'units'

interface BehaviourDeclaration {
  /** One sentence on what the camera does. `n` is the value of the parameter. */
  does: string
  parameter?: BehaviourParameter
  needs?: BehaviourNeed
  /** Behaviour that contradicts this one. */
  excludes?: string
}

const number = (
  unit: 's' | 'ms' | 'bytes' | 'logins',
  usual: number,
  min: number,
  max: number,
): { parameter: BehaviourParameter } => ({ parameter: { kind: 'number', unit, min, max, default: usual } })
const seconds = (usual: number): { parameter: BehaviourParameter } => number('s', usual, 1, 86_400)

/** Forms of descriptions that cameras in use write. */
export const oddDescriptions = [
  'leading-slash',
  'base-in-control',
  'media-sections-only',
  'line-feeds-only',
  'repeated-lines',
  'formats-elsewhere',
  'several-formats',
  'spaced-parameters',
  'no-clock-rate',
  'all-send-only',
  'metadata-section',
  'back-channel',
] as const
export type OddDescription = (typeof oddDescriptions)[number]

/**
 * Behaviours of test cameras, which can be combined. The command line, the site file, the console and the documentation
 * read this table.
 */
export const testCameraBehaviours = {
  'wrong-password': { does: 'Rejects every login, even the right one.', needs: 'login' },
  'lock-after': {
    does: 'Answers every login with 403 for one minute after n wrong logins.',
    needs: 'login',
    ...number('logins', 3, 1, 100),
  },
  'slow-answers': { does: 'Answers each request n ms late.', ...number('ms', 2_000, 1, 60_000) },
  'not-found': { does: 'Answers DESCRIBE with 404.' },
  redirect: { does: 'Answers DESCRIBE with 302 and another address of the same camera.' },
  'wrong-content-base': { does: 'Names an address in Content-Base that no client can reach.' },
  'no-options': { does: 'Answers OPTIONS with 501.' },
  'no-cseq': { does: 'Answers without CSeq.' },
  'tcp-only': { does: 'Refuses UDP with 461.', excludes: 'udp-only' },
  'udp-only': { does: 'Refuses TCP with 461.', excludes: 'tcp-only' },
  'odd-description': {
    does: 'Writes its description as a known odd camera does.',
    parameter: { kind: 'choice', choices: oddDescriptions },
  },
  stall: { does: 'Stops sending media n s after PLAY, and keeps the connection open.', ...seconds(10) },
  drop: { does: 'Closes the connection n s after PLAY.', ...seconds(10) },
  'no-key-frames': { does: 'Sends no key frame in the first n s after PLAY.', ...seconds(30) },
  'size-change': { does: 'Changes the size of its picture every n s.', ...seconds(10) },
  'sps-change': { does: 'Changes the level in its SPS, but not the size, every n s.', needs: 'units', ...seconds(10) },
  'no-sets-in-description': { does: 'Names no parameter sets in its description.', needs: 'units' },
  'no-sets-in-stream': { does: 'Sends no parameter sets with its key frames.', needs: 'units' },
  'timestamp-jump': { does: 'Advances its RTP timestamps by 10 minutes every n s.', ...seconds(10) },
  'ssrc-change': { does: 'Restarts SSRC, sequence numbers and timestamps every n s.', ...seconds(10) },
  'wrong-clock': {
    does: 'Reports a clock in RTCP that is n s ahead; a negative n is behind.',
    ...number('s', 3_600, -315_360_000, 315_360_000),
  },
  'no-marker': { does: 'Never sets the marker bit, which ends a picture.' },
  'marker-on-sets': { does: 'Sets the marker bit on parameter sets, too.', needs: 'units' },
  'start-codes': { does: 'Joins the units of a key frame by start codes in one RTP unit.', needs: 'units' },
  'stray-bytes': {
    does: 'Sends n bytes that are no media before each key frame over TCP.',
    ...number('bytes', 8, 1, 1_000),
  },
} as const satisfies Record<string, BehaviourDeclaration>

export type BehaviourName = keyof typeof testCameraBehaviours

const declarations: Readonly<Record<string, BehaviourDeclaration>> = testCameraBehaviours

/** Declarations by name, in the order of the table. */
export const behaviourTable: readonly (readonly [BehaviourName, BehaviourDeclaration])[] = Object.entries(
  testCameraBehaviours,
).map(([name, declaration]) => [name as BehaviourName, declaration])

/** A behaviour with the value of its parameter: a number, a choice, or `true` without a parameter. */
export interface Behaviour {
  name: BehaviourName
  value: number | string | true
}

/** Parses `name` or `name=value`. Without a value, a number has its default. Returns undefined for any other text. */
export function parseBehaviour(text: string): Behaviour | undefined {
  const [, name = '', written] = /^([a-z-]{1,40})(?:=([\w-]{1,40}))?$/.exec(text) ?? []
  if (!isBehaviourName(name)) return undefined
  const { parameter }: BehaviourDeclaration = testCameraBehaviours[name]
  if (parameter === undefined) return written === undefined ? { name, value: true } : undefined
  if (parameter.kind === 'choice')
    return written !== undefined && parameter.choices.includes(written) ? { name, value: written } : undefined
  const value = written === undefined ? parameter.default : Number(written)
  return Number.isInteger(value) && value >= parameter.min && value <= parameter.max ? { name, value } : undefined
}

/** Returns the forms of a behaviour for messages, e.g. `stall=1…86400 s`. */
export function behaviourForm(name: BehaviourName): string {
  const { parameter }: BehaviourDeclaration = testCameraBehaviours[name]
  if (parameter === undefined) return name
  if (parameter.kind === 'choice') return `${name}=${parameter.choices.join('|')}`
  return `${name}=${parameter.min}…${parameter.max} ${parameter.unit}`
}

/**
 * Returns why a camera cannot have these behaviours together; undefined: it can.
 * @param camera `codec` and `auth` as in a test camera's specification
 */
export function behaviourConflict(
  behaviours: readonly Behaviour[],
  { codec, auth }: { codec: string; auth: string },
): string | undefined {
  const names = behaviours.map(({ name }) => name)
  for (const [index, name] of names.entries()) {
    const { needs, excludes } = declarations[name] ?? {}
    if (names.indexOf(name) !== index) return `${name} is named twice`
    if (excludes !== undefined && names.some((other) => other === excludes)) return `${name} excludes ${excludes}`
    if (needs === 'login' && auth === 'none') return `${name} needs a login`
    if (needs === 'units' && codec === 'mjpeg') return `${name} needs H.264 or H.265`
  }
  return undefined
}

function isBehaviourName(name: string): name is BehaviourName {
  return Object.hasOwn(testCameraBehaviours, name)
}
