import { behavioursOf, type TestCameraSpec } from '../../../shared/media/test-camera.ts'
import type { BehaviourName, testCameraBehaviours } from '../../../shared/media/test-camera-behaviours.ts'

type Value<Name extends BehaviourName> = (typeof testCameraBehaviours)[Name] extends { parameter: infer Parameter }
  ? Parameter extends { kind: 'choice' }
    ? string
    : number
  : never

/** Names of the behaviours with a number as parameter. */
type NumberName = Exclude<
  { [N in BehaviourName]: Value<N> extends never ? never : N }[BehaviourName],
  'odd-description'
>

/** Behaviours of one camera, by name. */
export class ActiveBehaviours {
  readonly #values: ReadonlyMap<BehaviourName, number | string | true>

  constructor(spec: Pick<TestCameraSpec, 'behaviours'>) {
    this.#values = new Map(behavioursOf(spec).map(({ name, value }) => [name, value]))
  }

  has(name: BehaviourName): boolean {
    return this.#values.has(name)
  }

  /** Returns the number of a behaviour; undefined: the camera does not have the behaviour. */
  number(name: NumberName): number | undefined {
    const value = this.#values.get(name)
    return typeof value === 'number' ? value : undefined
  }

  /** Returns the chosen form of the description; undefined: the usual form. */
  get description(): string | undefined {
    const value = this.#values.get('odd-description')
    return typeof value === 'string' ? value : undefined
  }
}
