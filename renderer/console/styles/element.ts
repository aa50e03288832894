/** Style sheets of every page of the console: those of Element Plus, our tokens and overrides, and the utilities. */
import 'element-plus/theme-chalk/base.css'
import '@fontsource-variable/inter/wght.css'
import '../../kit/styles/tokens.css'
import './element.css'
import './skeleton.css'
import '../../kit/styles/base.css'
import './nav.css'
import 'virtual:uno.css'
