import { useRoute, useRouter } from 'vue-router'
import { usePhone } from '../../kit/composables/usePhone.ts'

/**
 * Shows the details of a row in the address, which keeps the tags that filter the list, and its grouping. On a phone, where they cover the list, the back button closes them.
 * @param list path of the list
 * @returns shows the row with this key; an empty key closes the details
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
