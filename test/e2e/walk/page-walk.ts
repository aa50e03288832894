import type { Locator, Page } from 'playwright-core'
import type { ProcedureName } from '../../../shared/console/contract.ts'
import { click, controls, rest } from './page-controls.ts'

/** Maximum number of dialogs and menus in front of each other. */
export const maxFronts = 5

/** A call of the console to its controller. */
export interface Call {
  id: number
  procedure: ProcedureName
  input?: unknown
}

/** Walks pages, dialogs and menus of the console by the names of their controls. Fills the empty fields of each dialog that it passes. */
export class PageWalk {
  readonly page: Page
  /** Route and controls that led to what is shown. */
  protected at = ''
  /** Procedures that wait for their answer, by call. */
  readonly #calls = new Map<number, string>()
  #answered: (() => void) | undefined

  constructor(page: Page) {
    this.page = page
  }

  /** Watches the calls of the page; before it is opened. */
  async watch(): Promise<void> {
    await this.page.routeWebSocket(/./, (socket) => {
      this.#calls.clear()
      const controller = socket.connectToServer()
      socket.onMessage((message) => {
        const call = JSON.parse(String(message)) as Call
        if (this.stops(call)) return socket.send(refusal(call.id))
        this.#calls.set(call.id, call.procedure)
        controller.send(message)
      })
      controller.onMessage((message) => {
        const { id, result } = JSON.parse(String(message)) as { id?: number; result?: { error?: { code: string } } }
        if (id !== undefined) {
          if (result?.error?.code === 'forbidden') this.forbidden(this.#calls.get(id) ?? '')
          this.#calls.delete(id)
          if (this.#calls.size === 0) this.#answered?.()
        }
        socket.send(message)
      })
    })
  }

  /** Opens a page anew and clicks the controls of a path, one after the other. */
  async goTo(route: string, path: readonly string[]): Promise<void> {
    this.at = route
    await this.#leave()
    await this.#open(route)
    await this.page.getByRole('heading', { level: 1 }).or(this.noAccess).first().waitFor()
    await this.settle()
    for (const [index, name] of path.entries()) {
      await this.press(name)
      this.at = path.slice(0, index + 1).join(' → ')
    }
    await controls(this.page)
  }

  /** Clicks a control. @returns its name if it is missing */
  protected async press(name: string): Promise<string | undefined> {
    await controls(this.page)
    if (!(await click(this.page, name))) return name
    await this.settle()
    return undefined
  }

  /** Resolves when the page rests and every call is answered. */
  async settle(): Promise<void> {
    await rest(this.page)
    if (this.#calls.size > 0) {
      await new Promise<void>((resolve) => {
        this.#answered = resolve
      })
      await rest(this.page)
    }
  }

  /** Shown in place of a page that the role may not see. */
  get noAccess(): Locator {
    return this.page.getByText('has no access to this page')
  }

  /** Whether a call is refused before it reaches the controller. */
  protected stops(_call: Call): boolean {
    return false
  }

  /** Called for a procedure that the controller refused to this role. */
  protected forbidden(_procedure: string): void {}

  async #open(route: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(route)}`)
  }

  /** Leaves the page with everything that is open in it. */
  async #leave(): Promise<void> {
    await this.#open('/walk')
    const gone = this.page.getByText('Page not found')
    const isGone = (): Promise<boolean> =>
      gone.waitFor({ timeout: 1_000 }).then(
        () => true,
        () => false,
      )
    // The page first: a panel that is closed by a key leads back to its list.
    const leaves = await isGone()
    for (let left = maxFronts; left > 0 && (await this.page.locator('dialog[open]').count()) > 0; left--) {
      await this.page.keyboard.press('Escape')
      await rest(this.page)
    }
    if (leaves || (await isGone())) return
    // A question about unsaved input is in front, and keeps the page.
    await this.page.reload()
    // Before its first page is shown, the console does not follow the address.
    await this.page.getByRole('heading', { level: 1 }).or(this.noAccess).first().waitFor()
    await this.#open('/walk')
    await gone.waitFor()
  }
}

/** Answer to a change that does not reach the controller. */
function refusal(id: number): string {
  const error = { code: 'internal', message: 'The walk changes nothing.', name: 'internal', values: {}, problems: [] }
  return JSON.stringify({ id, result: { ok: false, error } })
}
