import { useRoute, useRouter } from 'vue-router'
import { usePhone } from '../../kit/composables/usePhone.ts'

/**
 * Shows the details of a row by the page's address, whose query (tags and grouping) stays. On a phone, where the
 * details cover the list, the back button closes them.
 * @param list path of the list
 * @returns a function that shows the row with a key; an empty key closes the details
 */
export function useRowRoute(list: string): (key: string) => void {
  const router = useRouter()
  const route = useRoute()
  const phone = usePhone()
  const isList = (path: unknown): boolean => typeof path === 'string' && path.split('?')[0] === list
  return (key) => {
    const path = key === '' ? list : `${list}/${encodeURIComponent(key)}`
    const { tag, group } = route.query
    const to = { path, query: { ...(tag === undefined ? {} : { tag }), ...(group === undefined ? {} : { group }) } }
    if (phone.value && key !== '' && route.path === list) void router.push(to)
    else if (phone.value && key === '' && isList(router.options.history.state.back)) router.back()
    else void router.replace(to)
  }
}
