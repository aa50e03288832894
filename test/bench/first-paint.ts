import type { Page } from 'playwright-core'

/** Waits for the first paint of a page that is loading or loaded. @returns the milliseconds from the start of its loading */
export function firstPaint(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const observer = new PerformanceObserver((entries) => {
      const [paint] = entries.getEntriesByName('first-contentful-paint')
      if (!paint) return
      observer.disconnect()
      resolve(paint.startTime)
    })
    observer.observe({ type: 'paint', buffered: true })
  })`)
}
