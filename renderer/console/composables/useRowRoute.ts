import { useRoute, useRouter } from 'vue-router'
import { usePhone } from '../../kit/composables/usePhone.ts'

/**
 * Shows the details of a row in the address. On a phone, where they cover the list, the back button closes them.
 * @param list path of the list
 * @returns shows the row with this key; an empty key closes the details
 */
export function useRowRoute(list: string): (key: string) => void {
  const router = useRouter()
  const route = useRoute()
  const phone = usePhone()
  return (key) => {
    const path = key === '' ? list : `${list}/${encodeURIComponent(key)}`
    if (phone.value && key !== '' && route.path === list) void router.push(path)
    else if (phone.value && key === '' && router.options.history.state.back === list) router.back()
    else void router.replace(path)
  }
}
