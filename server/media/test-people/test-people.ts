import { Agent } from 'node:https'
import type { ControllerEnd } from '../../../shared/media/controller-methods.ts'
import type { TestPeopleSpec, TestPeopleState } from '../../../shared/media/test-people.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { PeopleGroup } from './people-group.ts'
import type { PersonEntry } from './person-session.ts'

/** Address of this node's own listener. */
interface OwnListener {
  host: string
  port: () => number
  /** Certificate in PEM; undefined: plain HTTP. */
  certificate: string | undefined
}

/** Timeout of the controller's answer, in milliseconds. */
const entryMs = 6_000

/** The test people that the controller ordered. They connect to this node like any other client. */
export class TestPeople {
  readonly #controller: Pick<ControllerEnd, 'request'>
  readonly #listener: OwnListener
  readonly #groups = new Map<string, PeopleGroup>()

  constructor(controller: Pick<ControllerEnd, 'request'>, listener: OwnListener) {
    this.#controller = controller
    this.#listener = { ...listener }
  }

  /** Replaces the certificate, e.g. when it was renewed. */
  set certificate(certificate: string) {
    this.#listener.certificate = certificate
  }

  get states(): TestPeopleState[] {
    return Array.from(this.#groups.values(), ({ state }) => state)
  }

  /** Starts and ends groups so that exactly these run. People of unchanged groups stay. */
  set(specs: readonly TestPeopleSpec[]): void {
    const wanted = new Map(specs.map((spec) => [spec.name, JSON.stringify(spec)]))
    for (const [name, group] of this.#groups)
      if (JSON.stringify(group.spec) !== wanted.get(name)) this.#end(name, group)
    for (const spec of specs) {
      if (this.#groups.has(spec.name)) continue
      this.#groups.set(spec.name, new PeopleGroup(spec, { enter: (number) => this.#enter(spec.name, number) }))
    }
  }

  close(): void {
    for (const [name, group] of this.#groups) this.#end(name, group)
  }

  #end(name: string, group: PeopleGroup): void {
    this.#groups.delete(name)
    mustNotFail(group.close())
  }

  /** @throws Error that says why the person has no link */
  async #enter(group: string, number: number): Promise<PersonEntry> {
    const signal = AbortSignal.timeout(entryMs)
    const { room_id, token, problem } = await this.#controller.request('test_person_entry', { group, number }, signal)
    if (problem !== '') throw new Error(problem)
    const { certificate, host, port } = this.#listener
    const scheme = certificate === undefined ? 'http' : 'https'
    // At every address of the machine, media has those of its network: `localhost`, unlike 127.0.0.1, stands for them.
    const own = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
    const node = new URL(`${scheme}://${own}:${port()}/`)
    return { node, roomId: room_id, token, trust: certificate === undefined ? undefined : trusting(certificate) }
  }
}

/** Trusts this certificate under any name, because the listener is this program's own. */
function trusting(ca: string): Agent {
  return new Agent({ ca, allowPartialTrustChain: true, checkServerIdentity: () => undefined })
}
