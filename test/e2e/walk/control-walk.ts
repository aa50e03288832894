import type { Page } from 'playwright-core'
import { procedures } from '../../../shared/console/contract.ts'
import { atLeast, type Role } from '../../../shared/domain/roles.ts'
import { accessOfCall } from '../../../shared/console/call-access.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import { pageRole } from '../../../renderer/console/pages.ts'
import { aroundPage, click, controls, links, rest } from './page-controls.ts'
import { type Call, maxFronts, PageWalk } from './page-walk.ts'

const before = { settings: defaultSettings(), node: () => undefined, linkLifeMs: () => 0 }

/** Ends the walk: it signs out, or changes the language of the names. */
const skipped = /(Sign out|Language)/

/**
 * Clicks every enabled control of the console as one role and notes what the role may not do. Reads reach the controller; changes that the role may make
 * are refused on the way, so that the site stays as it is.
 */
export class ControlWalk extends PageWalk {
  /** Forbidden procedures and pages, each with the controls that lead to it. */
  readonly found: string[] = []
  /** Number of clicks. */
  clicks = 0
  readonly #role: Role
  readonly #depth: number
  /** Controls that were clicked, by kind of page. */
  readonly #seen = new Set<string>()

  /** @param depth maximum number of controls behind each other, e.g. row menu, dialog, confirmation: 3 */
  constructor(page: Page, role: Role, depth: number) {
    super(page)
    this.#depth = depth
    this.#role = role
  }

  /** Walks everything that a page offers. */
  async walk(route: string): Promise<void> {
    await this.goTo(route, [])
    if (await this.noAccess.isVisible()) return
    await this.#walkFrom(route, [])
  }

  async #walkFrom(route: string, path: readonly string[]): Promise<void> {
    const names = [...new Set(await controls(this.page))]
    for (const link of await links(this.page)) if (!atLeast(this.#role, pageRole(link))) this.#note(`link to ${link}`)
    const fresh = names.filter((name) => !skipped.test(name) && this.#isNew(route, name))
    const address = this.page.url()
    for (const name of fresh) {
      if (!(await this.#click([...path, name]))) {
        await this.goTo(route, path)
        if (!(await this.#click([...path, name]))) continue
      }
      if (this.page.url() !== address) {
        const opened = new URL(this.page.url()).hash.slice(1)
        if (!atLeast(this.#role, pageRole(opened))) this.#note(opened)
        await this.goTo(route, path)
      } else if (path.length < this.#depth) {
        await this.#walkFrom(route, [...path, name])
        if (!(await this.#isBackAt(address, names))) await this.goTo(route, path)
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
    for (let left = maxFronts; left > 0 && this.page.url() === address; left--) {
      const now = new Set(await controls(this.page))
      if (now.size === names.length && names.every((name) => now.has(name))) return true
      await this.page.keyboard.press('Escape')
      await rest(this.page)
    }
    return false
  }

  async #click(path: readonly string[]): Promise<boolean> {
    this.at = path.join(' → ')
    if (!(await click(this.page, path.at(-1) ?? ''))) return false
    this.clicks++
    await this.settle()
    return true
  }

  /** Notes a forbidden call. Changes stop here. */
  protected override stops({ procedure, input }: Call): boolean {
    const parsed = procedures[procedure].input.safeParse(input ?? {})
    const { role } = accessOfCall(procedure, parsed.data ?? input ?? {}, before)
    if (!atLeast(this.#role, role)) this.#note(procedure)
    return !procedures[procedure].passedOn
  }

  protected override forbidden(procedure: string): void {
    this.#note(`${procedure} (refused)`)
  }

  #note(what: string): void {
    const line = `${this.at}: ${what}`
    if (!this.found.includes(line)) this.found.push(line)
  }
}
