import { createRouter, createWebHashHistory, type Router, type RouterHistory, type RouteRecordRaw } from 'vue-router'
import { withLaterTexts } from './i18n/index.ts'
import { allPages } from './pages.ts'
import { decideOnPage } from '../kit/layers/history-step.ts'
import { closeFrontLayer, frontDialog } from '../kit/layers/layers.ts'
import type { ConsoleClient } from '../kit/transport/client.ts'
import { tabStorage } from '../kit/storage.ts'

/** Pages of the help, within its frame. */
const helpPages: RouteRecordRaw[] = [
  { path: '', component: () => import('./pages/help/HelpHome.vue') },
  { path: 'new', component: () => import('./pages/help/HelpNews.vue') },
  { path: 'api/:operation?', component: () => import('./pages/help/ApiReference.vue') },
  { path: 'rpc/:procedure?', component: () => import('./pages/help/RpcReference.vue') },
  { path: ':group/:page', component: () => import('./pages/help/HelpDocument.vue') },
]

/**
 * Returns the router of all pages, each loaded when first opened. Routes are in the fragment, which works under app://
 * and on any server.
 */
export function makeRouter(): Router {
  const history = createWebHashHistory()
  // Before the router listens: its guards would otherwise not know of the step yet.
  const steps = followSteps(history)
  const router = createRouter({
    history,
    routes: [
      { path: '/', redirect: '/overview' },
      ...allPages.map(({ name, path, load }) => ({
        path,
        component: name === 'overview' ? load : withLaterTexts(load),
        ...(name === 'help' && { children: helpPages }),
      })),
    ],
  })
  closeDialogOnBack(router, steps)
  // Focuses the heading of a new page for screen readers. A change of parameters, e.g. an opened row, is no new page; a
  // linked setting or heading focuses itself.
  router.afterEach((to, from) => {
    if (from.matched.length === 0 || to.matched[0] === from.matched[0] || to.query.setting || to.hash) return
    const before = document.activeElement
    setTimeout(() => {
      // The user has already focused something else: a row, a field, the search.
      if (document.activeElement !== before && document.activeElement !== document.body) return
      document.querySelector<HTMLElement>('[data-page-title]')?.focus({ preventScroll: true })
    }, 60)
  })
  return router
}

const reloaded = 'roomdesk.reloaded'
/** Step of the browser's history to another page, until the router has followed or refused it. */
interface Steps {
  /** Address of the page; undefined: there is none. */
  to: string | undefined
  /** Call it when the router has decided. */
  decided: () => void
}

function followSteps(history: RouterHistory): Steps {
  const steps: Steps = { to: undefined, decided: () => undefined }
  history.listen((to, from) => {
    if (to === from) return
    steps.to = to
    steps.decided = decideOnPage()
  })
  return steps
}

/** Makes the browser's back button close the dialog in front, which may ask first, instead of leaving the page. */
function closeDialogOnBack(router: Router, steps: Steps): void {
  router.beforeEach((to) => {
    const closes = to.fullPath === steps.to && frontDialog() !== null
    steps.to = undefined
    if (closes) closeFrontLayer()
    return !closes
  })
  router.afterEach(() => steps.decided())
  router.onError(() => steps.decided())
}

/** Minimum interval between automatic reloads of the page, in milliseconds. */
const rest = 10_000

/**
 * Handles a page that cannot be loaded: the connection is lost, or the controller was updated to a version whose files
 * have other names. Reloads the console at the requested page as soon as a controller answers.
 */
export function loadAnewWhenNeeded(router: Router, client: ConsoleClient): void {
  let wanted = ''
  function load(): void {
    if (wanted === '' || Date.now() - Number(tabStorage.get(reloaded) ?? 0) < rest) return
    tabStorage.set(reloaded, String(Date.now()))
    location.hash = wanted
    location.reload()
  }
  router.onError((error, to) => {
    console.error(error)
    wanted = to.fullPath
    if (client.connection.value === 'online') load()
  })
  router.afterEach((_to, _from, failure) => {
    if (!failure) wanted = ''
  })
  client.onReconnect(load)
}
