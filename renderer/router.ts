import { createRouter, createWebHashHistory } from 'vue-router'
import type { Router } from 'vue-router'

/** Every page, fetched when it is first shown. Routes live in the fragment: they work under app:// and under any server. */
export function makeRouter(): Router {
  const router = createRouter({
    history: createWebHashHistory(),
    routes: [
      { path: '/', redirect: '/overview' },
      { path: '/overview', component: () => import('./pages/OverviewPage.vue') },
      { path: '/welcome', component: () => import('./pages/WelcomePage.vue') },
      { path: '/credentials/:key?', component: () => import('./pages/CredentialsPage.vue') },
      { path: '/rooms/:room?', component: () => import('./pages/RoomsPage.vue') },
      { path: '/nodes/:name?', component: () => import('./pages/NodesPage.vue') },
      { path: '/devices/:user?', component: () => import('./pages/DevicesPage.vue') },
      { path: '/activity', component: () => import('./pages/ActivityPage.vue') },
      { path: '/tester', component: () => import('./pages/TesterPage.vue') },
      { path: '/settings/:tab?', component: () => import('./pages/SettingsPage.vue') },
      { path: '/lab', component: () => import('./pages/LabPage.vue') },
      { path: '/:rest(.*)*', component: () => import('./pages/MissingPage.vue') },
    ],
  })
  // A reader of screens is told of a new page by its heading; parameters (an opened row) are no new page.
  router.afterEach((to, from) => {
    if (from.matched.length === 0 || to.matched[0] === from.matched[0]) return
    setTimeout(() => document.querySelector<HTMLElement>('[data-page-title]')?.focus({ preventScroll: true }), 60)
  })
  return router
}
