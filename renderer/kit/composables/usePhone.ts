import { readonly, ref, type Ref } from 'vue'

/** Maximum width of a phone's screen, as in the style sheets. */
const screen = window.matchMedia('(max-width: 640px)')
const phone = ref(screen.matches)
screen.addEventListener('change', ({ matches }) => {
  phone.value = matches
})

/** Returns whether the window is as narrow as a phone. */
export const usePhone = (): Readonly<Ref<boolean>> => readonly(phone)
