import { createRouter, createWebHashHistory } from 'vue-router'
import type { Router } from 'vue-router'
import { withLaterTexts } from './i18n/index.ts'
import type { ConsoleClient } from '../kit/transport/client.ts'

/** Routes of all pages, each loaded when first opened. They are in the fragment, which works under app:// and on any server. */
export function makeRouter(): Router {
  const router = createRouter({
    history: createWebHashHistory(),
    routes: [
      { path: '/', redirect: '/overview' },
      { path: '/overview', component: () => import('./pages/OverviewPage.vue') },
      { path: '/welcome/:step?', component: withLaterTexts(() => import('./pages/WelcomePage.vue')) },
      { path: '/credentials/:key?', component: withLaterTexts(() => import('./pages/CredentialsPage.vue')) },
      { path: '/rooms/:room?', component: withLaterTexts(() => import('./pages/RoomsPage.vue')) },
      { path: '/nodes/:name?', component: withLaterTexts(() => import('./pages/NodesPage.vue')) },
      { path: '/controllers/:id?', component: withLaterTexts(() => import('./pages/ControllersPage.vue')) },
      { path: '/devices/:user?', component: withLaterTexts(() => import('./pages/DevicesPage.vue')) },
      { path: '/wall/:view?', component: withLaterTexts(() => import('./pages/WallPage.vue')) },
      { path: '/kiosk/:view', component: withLaterTexts(() => import('./pages/KioskPage.vue')) },
      { path: '/recordings', component: withLaterTexts(() => import('./pages/RecordingsPage.vue')) },
      { path: '/recordings/ordered', component: withLaterTexts(() => import('./pages/OrderedPage.vue')) },
      { path: '/events', component: withLaterTexts(() => import('./pages/EventsPage.vue')) },
      { path: '/activity', component: withLaterTexts(() => import('./pages/ActivityPage.vue')) },
      { path: '/tester', component: withLaterTexts(() => import('./pages/TesterPage.vue')) },
      { path: '/trash', component: withLaterTexts(() => import('./pages/TrashPage.vue')) },
      { path: '/settings/:tab?', component: withLaterTexts(() => import('./pages/SettingsPage.vue')) },
      { path: '/readiness', component: withLaterTexts(() => import('./pages/ReadinessPage.vue')) },
      { path: '/certificate', component: withLaterTexts(() => import('./pages/CertificatePage.vue')) },
      { path: '/account', component: withLaterTexts(() => import('./pages/AccountPage.vue')) },
      {
        path: '/help',
        component: withLaterTexts(() => import('./pages/HelpPage.vue')),
        children: [
          { path: '', component: withLaterTexts(() => import('./pages/help/HelpHome.vue')) },
          { path: 'new', component: withLaterTexts(() => import('./pages/help/HelpNews.vue')) },
          { path: 'api/:operation?', component: withLaterTexts(() => import('./pages/help/ApiReference.vue')) },
          { path: 'rpc/:procedure?', component: withLaterTexts(() => import('./pages/help/RpcReference.vue')) },
          { path: ':group/:page', component: withLaterTexts(() => import('./pages/help/HelpDocument.vue')) },
        ],
      },
      { path: '/lab', component: withLaterTexts(() => import('./pages/LabPage.vue')) },
      { path: '/:rest(.*)*', component: withLaterTexts(() => import('./pages/MissingPage.vue')) },
    ],
  })
  // Focuses the heading of a new page for screen readers; parameters (an opened row) are no new page, and a linked setting or heading takes the focus itself.
  router.afterEach((to, from) => {
    if (from.matched.length === 0 || to.matched[0] === from.matched[0] || to.query.setting || to.hash) return
    const before = document.activeElement
    setTimeout(() => {
      // Somebody quick has gone on: into a row, a field, the search.
      if (document.activeElement !== before && document.activeElement !== document.body) return
      document.querySelector<HTMLElement>('[data-page-title]')?.focus({ preventScroll: true })
    }, 60)
  })
  return router
}

const reloaded = 'roomdesk.reloaded'
/** Minimum interval between automatic reloads of the page, in milliseconds. */
const rest = 10_000

/**
 * A page could not be loaded: the connection is lost, or the controller was replaced by another version, whose pages have other
 * names. The console reloads at the requested page, as soon as a controller answers.
 */
export function loadAnewWhenNeeded(router: Router, client: ConsoleClient): void {
  let wanted = ''
  function load(): void {
    if (wanted === '' || Date.now() - Number(sessionStorage.getItem(reloaded) ?? 0) < rest) return
    sessionStorage.setItem(reloaded, String(Date.now()))
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
