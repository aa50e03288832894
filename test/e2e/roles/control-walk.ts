import type { Locator, Page } from 'playwright-core'
import { type ProcedureName, procedures } from '../../../shared/console/contract.ts'
import { readsOnly } from '../../../shared/console/reads.ts'
import { atLeast, type Role } from '../../../shared/console/role-names.ts'
import { accessOfCall } from '../../../shared/console/roles.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import { pageRole } from '../../../renderer/console/page-roles.ts'
import { aroundPage, click, controls, links, rest } from './page-controls.ts'

/** Maximum number of dialogs and menus in front of each other. */
const maxFronts = 5
/** Ends the walk: it signs out, or changes the language of the names. */
const skipped = /(Sign out|Language)/

interface Call {
  id: number
  procedure: ProcedureName
  input?: unknown
}

/**
 * Clicks every enabled control of the console as one role and notes what the role may not do. Reads reach the controller; changes that the role may make
 * are refused on the way, so that the site stays as it is.
 */
export class ControlWalk {
  /** Forbidden procedures and pages, each with the controls that lead to it. */
  readonly found: string[] = []
  /** Number of clicks. */
  clicks = 0
  readonly #page: Page
  readonly #role: Role
  readonly #depth: number
  /** Procedures that wait for their answer, by call. */
  readonly #calls = new Map<number, string>()
  /** Controls that were clicked, by kind of page. */
  readonly #seen = new Set<string>()
  #answered: (() => void) | undefined
  #at = ''

  /** @param depth maximum number of controls behind each other, e.g. row menu, dialog, confirmation: 3 */
  constructor(page: Page, role: Role, depth: number) {
    this.#depth = depth
    this.#page = page
    this.#role = role
  }

  /** Watches the calls of the page; before it is opened. */
  async watch(): Promise<void> {
    await this.#page.routeWebSocket(/./, (socket) => {
      this.#calls.clear()
      const controller = socket.connectToServer()
      socket.onMessage((message) => {
        const call = JSON.parse(String(message)) as Call
        if (this.#judge(call)) return socket.send(refusal(call.id))
        this.#calls.set(call.id, call.procedure)
        controller.send(message)
      })
      controller.onMessage((message) => {
        const { id, result } = JSON.parse(String(message)) as { id?: number; result?: { error?: { code: string } } }
        if (id !== undefined) {
          if (result?.error?.code === 'forbidden') this.#note(`${this.#calls.get(id)} (refused)`)
          this.#calls.delete(id)
          if (this.#calls.size === 0) this.#answered?.()
        }
        socket.send(message)
      })
    })
  }

  /** Walks everything that a page offers. */
  async walk(route: string): Promise<void> {
    await this.#goTo(route, [])
    if (await this.#forbidden.isVisible()) return
    await this.#walkFrom(route, [])
  }

  get #forbidden(): Locator {
    return this.#page.getByText('has no access to this page')
  }

  async #walkFrom(route: string, path: readonly string[]): Promise<void> {
    const names = [...new Set(await controls(this.#page))]
    for (const link of await links(this.#page)) if (!atLeast(this.#role, pageRole(link))) this.#note(`link to ${link}`)
    const fresh = names.filter((name) => !skipped.test(name) && this.#isNew(route, name))
    const address = this.#page.url()
    for (const name of fresh) {
      if (!(await this.#click([...path, name]))) {
        await this.#goTo(route, path)
        if (!(await this.#click([...path, name]))) continue
      }
      if (this.#page.url() !== address) {
        const opened = new URL(this.#page.url()).hash.slice(1)
        if (!atLeast(this.#role, pageRole(opened))) this.#note(opened)
        await this.#goTo(route, path)
      } else if (path.length < this.#depth) {
        await this.#walkFrom(route, [...path, name])
        if (!(await this.#isBackAt(address, names))) await this.#goTo(route, path)
      }
    }
  }

  /** Whether a control was not clicked before on a page of this kind; those around the page count once. */
  #isNew(route: string, name: string): boolean {
    const key = name.startsWith(aroundPage) ? name : `${route.split('/')[1]} ${name}`
    if (this.#seen.has(key)) return false
    this.#seen.add(key)
    return true
  }

  /** Closes what is in front. Returns whether the page offers the same again as before. */
  async #isBackAt(address: string, names: readonly string[]): Promise<boolean> {
    for (let left = maxFronts; left > 0 && this.#page.url() === address; left--) {
      const now = new Set(await controls(this.#page))
      if (now.size === names.length && names.every((name) => now.has(name))) return true
      await this.#page.keyboard.press('Escape')
      await rest(this.#page)
    }
    return false
  }

  async #click(path: readonly string[]): Promise<boolean> {
    this.#at = path.join(' → ')
    if (!(await click(this.#page, path.at(-1) ?? ''))) return false
    this.clicks++
    await this.#settle()
    return true
  }

  /** Opens the page anew and repeats the clicks of a path. */
  async #goTo(route: string, path: readonly string[]): Promise<void> {
    this.#at = route
    await this.#leave()
    await this.#open(route)
    await this.#page.getByRole('heading', { level: 1 }).or(this.#forbidden).first().waitFor()
    await this.#settle()
    for (const [index, name] of path.entries()) {
      await controls(this.#page)
      await click(this.#page, name)
      this.#at = path.slice(0, index + 1).join(' → ')
      await this.#settle()
    }
    await controls(this.#page)
  }

  async #open(route: string): Promise<void> {
    await this.#page.evaluate(`location.hash = ${JSON.stringify(route)}`)
  }

  /** Leaves the page with everything that is open in it. */
  async #leave(): Promise<void> {
    await this.#open('/walk')
    const gone = this.#page.getByText('Page not found')
    const isGone = (): Promise<boolean> =>
      gone.waitFor({ timeout: 1_000 }).then(
        () => true,
        () => false,
      )
    // The page first: a panel that is closed by a key leads back to its list.
    const leaves = await isGone()
    for (
      let left = maxFronts;
      left > 0 && (await this.#page.locator('[aria-modal="true"]:visible').count()) > 0;
      left--
    ) {
      await this.#page.keyboard.press('Escape')
      await rest(this.#page)
    }
    if (leaves || (await isGone())) return
    // A question about unsaved input is in front, and keeps the page.
    await this.#page.reload()
    // Before its first page is shown, the console does not follow the address.
    await this.#page.getByRole('heading', { level: 1 }).or(this.#forbidden).first().waitFor()
    await this.#open('/walk')
    await gone.waitFor()
  }

  async #settle(): Promise<void> {
    await rest(this.#page)
    if (this.#calls.size > 0) {
      await new Promise<void>((resolve) => {
        this.#answered = resolve
      })
      await rest(this.#page)
    }
  }

  /** Notes a forbidden call. Returns whether the call stops here. */
  #judge({ procedure, input }: Call): boolean {
    const parsed = procedures[procedure].input.safeParse(input ?? {})
    const { role } = accessOfCall(procedure, parsed.data ?? input ?? {}, defaultSettings())
    if (!atLeast(this.#role, role)) this.#note(procedure)
    return !readsOnly[procedure]
  }

  #note(what: string): void {
    const line = `${this.#at}: ${what}`
    if (!this.found.includes(line)) this.found.push(line)
  }
}

/** Answer to a change that does not reach the controller. */
function refusal(id: number): string {
  const error = { code: 'internal', message: 'The walk changes nothing.', name: 'internal', values: {}, problems: [] }
  return JSON.stringify({ id, result: { ok: false, error } })
}
